/**
 * @supabase/lite prints a banner and every refused statement, with its stack, to the console of whoever runs it. The
 * caller gets those errors in the answer; so whatever is printed while the back end works is dropped, and nothing else.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const quiet = new AsyncLocalStorage<boolean>();

/** Runs the work, and all that follows from it, without its console output. */
export function quietly<T>(work: () => Promise<T>): Promise<T> {
  return quiet.run(true, work);
}

for (const name of ["log", "info", "warn", "error", "debug"] as const) {
  const print = globalThis.console[name];
  globalThis.console[name] = (...values: unknown[]) => {
    if (quiet.getStore() !== true) print(...values);
  };
}
