/** The shortcuts that work in every view. A focused text field keeps its letters, and a dialog keeps all keys. */
import { useEffect } from "preact/hooks";
import { isPressed } from "../components/shortcut_table.ts";
import { overlay } from "../state/overlay.ts";

/** Attribute that marks the fields that `/` focuses. */
const FILTER_MARK = "data-filter";

export function useShortcuts(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
      if (isPressed(event, "palette")) {
        event.preventDefault();
        overlay.value = "palette";
      }
      if (isTyping(event.composedPath()[0])) return;
      if (isPressed(event, "shortcuts")) {
        event.preventDefault();
        overlay.value = "shortcuts";
      } else if (isPressed(event, "filter")) focusFilter(event);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function focusFilter(event: KeyboardEvent): void {
  const fields = [...document.querySelectorAll<HTMLInputElement>(`[${FILTER_MARK}]`)];
  const field = fields.find((one) => one.closest("main")) ?? fields[0];
  if (field === undefined) return;
  event.preventDefault();
  field.focus();
  field.select();
}

function isTyping(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select"));
}
