/** @jsxImportSource preact */
/** The mark of a row that has just changed: a line at its start, and a shade that fades. */
import { isMarked } from "../state/marks.ts";

/** The class of the row. With a version, only while it is the file's newest. */
export function changedClass(fileId: string, version?: number): string | undefined {
  return isMarked(fileId, version) ? "changed" : undefined;
}

/** The same in words. */
export function ChangedMark({ fileId, version }: { readonly fileId: string; readonly version?: number }) {
  return isMarked(fileId, version) ? <span class="visually-hidden">, has just changed</span> : null;
}
