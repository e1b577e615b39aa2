import { useEffect, useState } from "preact/hooks";
import { Field } from "../../components/field.tsx";

interface Properties {
  readonly label: string;
  /** Undefined: the latest. */
  readonly value: number | undefined;
  readonly onChange: (version: number) => void;
}

/** Takes effect on blur or Enter, so that not every digit sends a request. */
export function VersionField({ label, value, onChange }: Properties) {
  const [text, setText] = useState(textOf(value));
  useEffect(() => setText(textOf(value)), [value]);
  const isVersion = /^[1-9]\d{0,9}$/.test(text);
  const isLatest = value === undefined && text === "";
  return (
    <Field label={label} problem={isVersion || isLatest ? undefined : "must be a whole number, 1 or greater"}>
      {(attributes) => (
        <input
          {...attributes}
          class="version-field"
          inputMode="numeric"
          placeholder={value === undefined ? "latest" : undefined}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onChange={() =>
            isVersion && onChange(Number(text))}
        />
      )}
    </Field>
  );
}

function textOf(version: number | undefined): string {
  return version === undefined ? "" : String(version);
}
