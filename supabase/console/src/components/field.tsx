/** A labelled form field with a hint and an error message. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProperties {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  readonly children: (attributes: FieldAttributes) => ComponentChildren;
}

/** Attributes that connect a control to its label, hint and error message. */
export interface FieldAttributes {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
}

export function Field({ label, hint, problem, children }: FieldProperties) {
  const id = useId();
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": described === "" ? undefined : described,
        "aria-invalid": problem !== undefined,
      })}
      {hint && <p class="hint" id={`${id}-hint`}>{hint}</p>}
      {problem && <p class="field-problem" id={`${id}-problem`}>{problem}</p>}
    </div>
  );
}

interface TextFieldProperties {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  readonly type?: "text" | "email" | "password" | "datetime-local";
  readonly input?: InputSettings;
}

interface InputSettings {
  readonly autoComplete?: string;
  readonly autoFocus?: boolean;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly spellcheck?: boolean;
}

export function TextField(
  { label, value, onInput, hint, problem, type = "text", input }: TextFieldProperties,
) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => {
        const shared = {
          ...attributes,
          ...input,
          value,
          onInput: (event: { readonly currentTarget: HTMLInputElement }) =>
            onInput(event.currentTarget.value),
        };
        // Spelled out because the types of the other attributes depend on `type`.
        switch (type) {
          case "email":
            return <input type="email" {...shared} />;
          case "password":
            return <input type="password" {...shared} />;
          case "datetime-local":
            return <input type="datetime-local" {...shared} />;
          case "text":
            return <input type="text" {...shared} />;
        }
      }}
    </Field>
  );
}

interface SelectFieldProperties {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly problem?: string | undefined;
  readonly hint?: string | undefined;
}

export function SelectField({ label, value, onChange, options, problem, hint }: SelectFieldProperties) {
  return (
    <Field label={label} problem={problem} hint={hint}>
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {options.map(([option, text]) => <option key={option} value={option}>{text}</option>)}
        </select>
      )}
    </Field>
  );
}
