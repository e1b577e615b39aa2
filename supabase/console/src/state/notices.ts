/// <reference lib="dom" />
/** Short messages about what was done, with an undo button where possible. */
import { signal } from "@preact/signals";
import { NOTICE_MILLISECONDS, UNDO_MILLISECONDS } from "../limits.ts";

export interface Notice {
  readonly id: number;
  readonly kind: "done" | "problem";
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void } | undefined;
}

export const notices = signal<readonly Notice[]>([]);
let nextId = 1;

export function notify(text: string, action?: Notice["action"]): void {
  show({ id: nextId++, kind: "done", text, action });
}

/** A problem stays until it is dismissed. */
export function notifyProblem(text: string): void {
  show({ id: nextId++, kind: "problem", text });
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

function show(notice: Notice): void {
  notices.value = [...notices.value.slice(-2), notice];
  if (notice.kind === "problem") return;
  setTimeout(() => dismiss(notice.id), notice.action ? UNDO_MILLISECONDS : NOTICE_MILLISECONDS);
}
