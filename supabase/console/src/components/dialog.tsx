/** A modal dialog: Esc and the close button close it, and the focus returns to its former element. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { visible } from "../format.ts";
import { IconButton } from "./icon.tsx";

interface Properties {
  readonly title: string;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

export function Dialog({ title, onClose, isWide = false, children }: Properties) {
  const id = useId();
  return (
    <dialog
      {...useModal(onClose)}
      class={isWide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
    >
      <header class="dialog-head">
        <h2 id={id}>{visible(title)}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      {children}
    </dialog>
  );
}

/** Makes a `dialog` element modal while it is mounted. */
export function useModal(onClose: () => void) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const opened = element.current;
    opened?.showModal();
    return () => {
      // Elements behind an open dialog cannot receive the focus.
      opened?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  return { ref: element, onCancel };
}
