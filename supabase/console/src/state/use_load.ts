/** Loads the data of a view when its inputs change, and again after a reconnection. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "../api/failure.ts";
import { account } from "../session/session.ts";
import { recoveries } from "../session/connection.ts";

export interface Load<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Loads again, showing the old data meanwhile. */
  readonly reload: () => void;
}

interface Outcome<T> {
  readonly key: string;
  readonly data?: T;
  readonly error?: unknown;
}

/** `key` identifies what is loaded: after a change of the key the old data is not shown. */
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
