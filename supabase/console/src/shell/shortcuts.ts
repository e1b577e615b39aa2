/// <reference lib="dom" />
/** Global shortcuts: `/` focuses the filter of the view, or the search field if the view has no filter. */
import { useEffect } from "preact/hooks";

/** Attribute of the fields that `/` focuses. */
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
