/**
 * Automatic loads: at most one per pause, fewer while agents need the project's requests, and none while the tab is hidden.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { PACED_MILLISECONDS, PACED_SCARCE_MILLISECONDS } from "../limits.ts";
import { hasShareLeft } from "../session/rate_window.ts";

/** Returns a function that calls `run` at once, or at the end of the pause after the last call. */
export function usePacedCall(projectId: string, run: () => void): () => void {
  const latest = useRef(run);
  latest.current = run;
  const last = useRef(-Infinity);
  const cancel = useRef<(() => void) | null>(null);
  useEffect(() => () => cancel.current?.(), []);
  return useCallback(() => {
    if (cancel.current !== null) return;
    const pause = hasShareLeft(projectId) ? PACED_MILLISECONDS : PACED_SCARCE_MILLISECONDS;
    let isOver = false;
    const stop = whenVisible(Math.max(0, last.current + pause - performance.now()), () => {
      isOver = true;
      cancel.current = null;
      last.current = performance.now();
      latest.current();
    });
    if (!isOver) cancel.current = stop;
  }, [projectId]);
}

/** Returns the value, updated no more often than `usePacedCall` allows. */
export function usePaced<T>(projectId: string, value: T): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  const follow = usePacedCall(projectId, () => setShown(() => latest.current));
  useEffect(() => {
    if (!Object.is(shown, value)) follow();
  }, [value]);
  return shown;
}

/** Calls `run` after a pause, or later, when the tab becomes visible. Returns a function that cancels the call. */
export function whenVisible(milliseconds: number, run: () => void): () => void {
  const abort = new AbortController();
  const runIfVisible = () => {
    if (document.visibilityState === "hidden") return;
    abort.abort();
    run();
  };
  const start = () => {
    document.addEventListener("visibilitychange", runIfVisible, { signal: abort.signal });
    runIfVisible();
  };
  if (milliseconds === 0) {
    start();
  } else {
    const timer = setTimeout(start, milliseconds);
    abort.signal.addEventListener("abort", () => clearTimeout(timer));
  }
  return () => abort.abort();
}
