/** @jsxImportSource preact */
/// <reference lib="dom" />
/** A dialog that asks for something: a form, with the way out and the way on below it. */
import type { ComponentChildren } from "preact";
import { Dialog } from "./dialog.tsx";
import type { Submission } from "./use_submit.ts";

interface Properties extends Pick<Submission, "isBusy" | "submit"> {
  readonly title: string;
  /** On the button that submits. */
  readonly action: string;
  /** What cannot be taken back: the focus is on the way out. */
  readonly isDangerous?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function FormDialog(
  { title, action, isDangerous = false, isBusy, submit, onClose, children }: Properties,
) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        {children}
        <footer class="dialog-foot">
          <button type="button" autoFocus={isDangerous} onClick={onClose}>Cancel</button>
          <button type="submit" class={isDangerous ? "danger solid" : "primary"} disabled={isBusy}>
            {action}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
