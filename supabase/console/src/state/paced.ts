/**
 * Loads that nobody asked for by hand: at most one in a while, fewer where agents need the requests of the project, and
 * none while the tab is hidden.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { PACED_MILLISECONDS, PACED_SCARCE_MILLISECONDS } from "../limits.ts";
import { hasShareLeft } from "../session/rate_window.ts";

/** Returns a function that calls `run`: at once, or at the end of the pause after the last time. */
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

/** The value, which follows its changes no faster than `usePacedCall` allows. */
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

/** Calls after a pause, or when the tab is seen again. Returns what cancels it. */
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
