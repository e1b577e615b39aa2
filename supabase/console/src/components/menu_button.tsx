/** A button that opens a menu of actions: arrows move in it, Enter chooses, Escape closes it and returns the focus. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface MenuAction {
  readonly text: string;
  readonly isDangerous?: boolean;
  /** A line sets the action apart from those above it. */
  readonly isApart?: boolean;
  readonly run: () => void;
}

interface Properties {
  /** Accessible name of the button and of its menu. */
  readonly label: string;
  readonly actions: readonly MenuAction[];
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function MenuButton({ label, actions, class: kind = "icon-button", children }: Properties) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!isOpen) return;
    itemsOf(root.current)[0]?.focus();
    const onPointer = ({ target }: Event) => {
      if (target instanceof Node && !root.current?.contains(target)) setOpen(false);
    };
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    // The surrounding list handles keys of its own.
    event.stopPropagation();
    if (!isOpen) {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      setOpen(true);
    } else if (event.key === "Escape") close();
    else if (event.key === "Tab") setOpen(false);
    else move(event, root.current);
  };
  return (
    <div ref={root} class="menu-button" onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        class={kind}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <div class="menu-list" role="menu" aria-label={label}>
          {actions.map(({ text, isDangerous, isApart, run }) => (
            <button
              key={text}
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={`${isDangerous ? "danger" : ""} ${isApart ? "apart" : ""}`}
              onClick={() => {
                close();
                run();
              }}
            >
              {text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function itemsOf(root: HTMLElement | null): HTMLElement[] {
  return [...root?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? []];
}

function move(event: KeyboardEvent, root: HTMLElement | null): void {
  const items = itemsOf(root);
  const index = items.findIndex((item) => item === document.activeElement);
  const to = {
    ArrowDown: (index + 1) % items.length,
    ArrowUp: (index - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  items[to]?.focus();
}
