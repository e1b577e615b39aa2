/** Submits a form: one submission at a time; the failure is kept for the fields to show. */
import { useState } from "preact/hooks";

export interface Submission {
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly submit: (event: Event) => void;
}

export function useSubmit(work: () => Promise<void>): Submission {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const submit = (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    work().catch(setError).finally(() => setBusy(false));
  };
  return { isBusy, error, submit };
}
