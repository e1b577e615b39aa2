/// <reference lib="dom" />
/** Keys that work anywhere: `/` goes to the view's filter, or to the search where a view has none. */
import { useEffect } from "preact/hooks";

/** Marks the field that `/` focuses. */
const FILTER_MARK = "data-filter";

export function useShortcuts(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTyping(event.composedPath()[0]) || document.querySelector("dialog[open]")) return;
      const fields = [...document.querySelectorAll<HTMLInputElement>(`[${FILTER_MARK}]`)];
      const field = fields.find((one) => one.closest("main")) ?? fields[0];
      if (field === undefined) return;
      event.preventDefault();
      field.focus();
      field.select();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

function isTyping(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input, textarea, select"));
}
