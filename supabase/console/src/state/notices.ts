/** Short messages about what was done, with an undo button where possible. */
import type { FileAt } from "../api/files.ts";
import { signal } from "@preact/signals";
import { visible } from "../format.ts";
import { NOTICE_MILLISECONDS, UNDO_MILLISECONDS } from "../limits.ts";

interface Undo {
  /** What the button undoes, as text for a screen reader: `deleting plan.md`. */
  readonly what: string;
  readonly run: () => void;
}

export interface Notice {
  readonly id: number;
  readonly kind: "done" | "problem";
  readonly text: string;
  /** The file of the message. The notice is shown only in the file's project. */
  readonly about?: FileAt | undefined;
  readonly undo?: Undo | undefined;
}

export const notices = signal<readonly Notice[]>([]);
let nextId = 1;

export function notify(text: string, about?: FileAt, undo?: Undo): void {
  show({ id: nextId++, kind: "done", text, about, undo });
}

/** A problem stays until it is dismissed. */
export function notifyProblem(text: string, about?: FileAt): void {
  show({ id: nextId++, kind: "problem", text, about });
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Removes the undo buttons for a file that has changed since, because they no longer apply. */
export function endUndo({ projectId, path }: FileAt): void {
  notices.value = notices.value.filter(({ undo, about }) =>
    undo === undefined || about?.projectId !== projectId || about.path !== path
  );
}

export function clearNotices(): void {
  notices.value = [];
}

function show(notice: Notice): void {
  notices.value = [...notices.value.slice(-2), { ...notice, text: visible(notice.text) }];
  if (notice.kind === "problem") return;
  setTimeout(() => dismiss(notice.id), notice.undo ? UNDO_MILLISECONDS : NOTICE_MILLISECONDS);
}
