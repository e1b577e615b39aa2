/** Tells the views that files have changed, so that they reload. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Change {
  /** Undefined: several files. */
  readonly path?: string;
  readonly isDeleted?: boolean;
}

const last = signal<{ readonly count: number; readonly change: Change }>({ count: 0, change: {} });

export function announceChange(change: Change): void {
  last.value = { count: last.value.count + 1, change };
}

/** Calls `onChange` after each change of any file, or of the file at `path`. */
export function useChanges(onChange: (change: Change) => void, path?: string): void {
  const { count, change } = last.value;
  const seen = useRef(count);
  useEffect(() => {
    if (seen.current === count) return;
    seen.current = count;
    if (path === undefined || change.path === undefined || change.path === path) onChange(change);
  }, [count]);
}
