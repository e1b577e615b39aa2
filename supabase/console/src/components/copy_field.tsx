import { CopyButton } from "./copy_button.tsx";
import { Field } from "./field.tsx";

interface Properties {
  readonly label: string;
  readonly text: string;
  readonly what: string;
  readonly rows: number;
}

/** A text to be copied, in a field that nobody can change. */
export function CopyField({ label, text, what, rows }: Properties) {
  return (
    <div class="shown">
      <Field label={label}>
        {(attributes) => <textarea {...attributes} readOnly rows={rows} spellcheck={false} value={text} />}
      </Field>
      <CopyButton text={text} what={what} />
    </div>
  );
}
