/** A copy button, and texts with one. */
import { useState } from "preact/hooks";
import { notifyProblem } from "../state/notices.ts";
import { Icon } from "./icon.tsx";
import { Field } from "./form.tsx";

interface CopyButtonProperties {
  readonly text: string;
  /** Names the text for a screen reader. */
  readonly what: string;
  /** The button's label, `Copy` by default. Needed if several are side by side. */
  readonly label?: string;
}

export function CopyButton({ text, what, label = "Copy" }: CopyButtonProperties) {
  const [copied, setCopied] = useState<string | null>(null);
  const isCopied = copied === text;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(text);
    } catch {
      notifyProblem("The browser did not allow copying. Select the text and copy it manually.");
    }
  };
  return (
    <button type="button" class="copy" onClick={copy}>
      <Icon name={isCopied ? "check" : "copy"} />
      {isCopied ? "Copied" : label}
      <span class="visually-hidden">{` ${what}`}</span>
    </button>
  );
}

interface CopyFieldProperties {
  readonly label: string;
  readonly text: string;
  readonly what: string;
  readonly rows: number;
}

/** A read-only field with a copy button. */
export function CopyField({ label, text, what, rows }: CopyFieldProperties) {
  return (
    <div class="shown">
      <Field label={label}>
        {(attributes) => <textarea {...attributes} readOnly rows={rows} spellcheck={false} value={text} />}
      </Field>
      <CopyButton text={text} what={what} />
    </div>
  );
}

interface CodeBlockProperties {
  readonly text: string;
  /** The name for a screen reader: `the configuration of Cursor`. */
  readonly what: string;
}

export function CodeBlock({ text, what }: CodeBlockProperties) {
  return (
    <div class="code-block">
      <pre tabIndex={0} role="region" aria-label={what.charAt(0).toUpperCase() + what.slice(1)}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
