/** Which rows have just changed, for a mark that fades. */
import { signal } from "@preact/signals";
import { MARK_MILLISECONDS, MARKS_MAX } from "../limits.ts";

interface Version {
  readonly fileId: string;
  readonly version: number;
}

/** Version by file id. */
const marks = signal<ReadonlyMap<string, number>>(new Map());

export function markChanged(changes: readonly Version[]): void {
  const next = new Map(marks.value);
  for (const { fileId, version } of changes.slice(-MARKS_MAX)) next.set(fileId, version);
  marks.value = next;
  setTimeout(() => {
    const rest = new Map(marks.value);
    for (const { fileId, version } of changes) if (rest.get(fileId) === version) rest.delete(fileId);
    marks.value = rest;
  }, MARK_MILLISECONDS);
}

/** Whether the file has just changed or, with a version, whether this is its newest and was just made. */
export function isMarked(fileId: string, version?: number): boolean {
  const marked = marks.value.get(fileId);
  return marked !== undefined && (version === undefined || version === marked);
}
