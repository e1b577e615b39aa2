/** A dialog with a form, and its cancel and submit buttons. */
import type { ComponentChildren } from "preact";
import { Dialog } from "./dialog.tsx";
import type { Submission } from "./use_submit.ts";

interface Properties extends Pick<Submission, "isBusy" | "submit"> {
  readonly title: string;
  /** Label of the submit button. */
  readonly action: string;
  /** The action cannot be undone: the cancel button has the focus. */
  readonly isDangerous?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function FormDialog({ title, ...form }: Properties) {
  return (
    <Dialog title={title} onClose={form.onClose}>
      <DialogForm {...form} />
    </Dialog>
  );
}

/** The form alone, for a dialog that does not always have one. */
export function DialogForm(
  { action, isDangerous = false, isBusy, submit, onClose, children }: Omit<Properties, "title">,
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
