/** Loads the data of a view when its inputs change, and again after a reconnection. */
import { useCallback, useEffect, useReducer, useRef, useState } from "preact/hooks";
import { isAbort } from "../api/failure.ts";
import { account } from "../session/session.ts";
import { recoveries } from "../session/connection.ts";
import { FILTER_PAUSE_MILLISECONDS } from "../limits.ts";

export interface Load<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Loads again and shows the old data meanwhile. */
  readonly reload: () => void;
}

interface Outcome<T> {
  readonly key: string;
  readonly data?: T;
  readonly error?: unknown;
}

/** `key` identifies the data: after a change of the key, the old data is no longer shown. */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Load<T> {
  const [outcome, setOutcome] = useState<Outcome<T> | null>(null);
  const [isLoading, setLoading] = useState(true);
  const [reloads, setReloads] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(() => setReloads((before) => before + 1), []);
  const visit = `${recoveries.value} ${account.value?.id}`;
  useEffect(() => {
    const abort = new AbortController();
    setLoading(true);
    latest.current(abort.signal).then(
      (data) => {
        if (abort.signal.aborted) return;
        setOutcome({ key, data });
        setLoading(false);
      },
      (error) => {
        if (abort.signal.aborted || isAbort(error)) return;
        setOutcome({ key, error });
        setLoading(false);
      },
    );
    return () => abort.abort();
  }, [key, reloads, visit]);
  const current = outcome?.key === key ? outcome : null;
  return {
    data: current?.data,
    error: current?.error,
    isLoading: isLoading || current === null,
    reload,
  };
}

/** Returns the data and a function that changes it. Newly loaded data replaces the changed data. */
export function usePatched<T>(loaded: T): [T, (change: (before: T) => T) => void] {
  const state = useRef({ loaded, current: loaded });
  const [, draw] = useReducer<number, void>((count) => count + 1, 0);
  if (state.current.loaded !== loaded) state.current = { loaded, current: loaded };
  const patch = useRef((change: (before: T) => T) => {
    const next = change(state.current.current);
    if (next === state.current.current) return;
    state.current = { ...state.current, current: next };
    draw();
  });
  return [state.current.current, patch.current];
}

/** Returns the text after a pause in typing. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), FILTER_PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
