/** Forms: labelled fields with a hint and an error message, one submission at a time, and dialogs with a form. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { ApiFailure, reasonOf } from "../api/failure.ts";
import { Dialog } from "./dialog.tsx";

interface FieldProperties {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  readonly children: (attributes: FieldAttributes) => ComponentChildren;
}

/** Attributes that connect a control to its label, hint and error message. */
interface FieldAttributes {
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
  readonly input?: {
    readonly autoComplete?: string;
    readonly autoFocus?: boolean;
    readonly placeholder?: string;
    readonly required?: boolean;
    readonly spellcheck?: boolean;
    readonly step?: string;
    /** Called on blur and Enter. */
    readonly onChange?: (event: { readonly currentTarget: HTMLInputElement }) => void;
  };
}

export function TextField(
  { label, value, onInput, hint, problem, type = "text", input }: TextFieldProperties,
) {
  return (
    <Field {...{ label, hint, problem }}>
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
}

export function SelectField({ label, value, onChange, options, problem }: SelectFieldProperties) {
  return (
    <Field {...{ label, problem }}>
      {(attributes) => (
        <select
          {...attributes}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          {options.map(([option, text]) => <option key={option} value={option}>{text}</option>)}
        </select>
      )}
    </Field>
  );
}

interface FormProperties extends Pick<Submission, "isBusy" | "submit"> {
  readonly title: string;
  readonly action: string;
  /** The action cannot be undone, so the cancel button gets the focus. */
  readonly isDangerous?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function FormDialog({ title, ...form }: FormProperties) {
  return (
    <Dialog title={title} onClose={form.onClose}>
      <DialogForm {...form} />
    </Dialog>
  );
}

/** The form without a dialog, for a dialog that shows it only sometimes. */
export function DialogForm(
  { action, isDangerous = false, isBusy, submit, onClose, children }: Omit<FormProperties, "title">,
) {
  return (
    <form onSubmit={submit} noValidate>
      {children}
      <footer class="dialog-foot">
        <button type="button" autoFocus={isDangerous} onClick={onClose}>Cancel</button>
        <button type="submit" class={isDangerous ? "danger solid" : "primary"} disabled={isBusy}>
          {action}
        </button>
      </footer>
    </form>
  );
}

/** Allows one submission at a time, and keeps the failure for the fields to show. */
interface Submission {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly submit: (event: Event) => void;
}

export function useSubmit(work: () => Promise<void>): Submission {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const submit = (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    work().catch(setError).finally(() => setBusy(false));
  };
  return { isBusy, error, submit };
}

/** The reason why a form failed, next to its button. Renders nothing if a field shows the reason already. */
export function FormProblem(
  { error, fields }: { readonly error: unknown; readonly fields: readonly string[] },
) {
  if (error === undefined || error === null) return null;
  const issues = error instanceof ApiFailure ? error.issues : [];
  const isShown = issues.length > 0 && issues.every(({ path }) => fields.includes(path.split(".")[0] ?? ""));
  return isShown ? null : <p class="form-problem" role="alert">{reasonOf(error)}</p>;
}
