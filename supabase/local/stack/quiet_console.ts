/**
 * @supabase/lite prints a banner, and every rejected statement with its stack trace, to the console of this process. The
 * client receives these errors in the response, so this file drops all output during calls of the back end, and no other.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const quiet = new AsyncLocalStorage<boolean>();

/** Runs `work`, including its asynchronous continuations, without console output. */
export function quietly<T>(work: () => Promise<T>): Promise<T> {
  return quiet.run(true, work);
}

for (const name of ["log", "info", "warn", "error", "debug"] as const) {
  const print = globalThis.console[name];
  globalThis.console[name] = (...values: unknown[]) => {
    if (quiet.getStore() !== true) print(...values);
  };
}
