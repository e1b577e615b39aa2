/** The rate window of each project, read from the headers of its responses without requests of its own. */
import { signal } from "@preact/signals";
import { UNASKED_REQUESTS_SHARE_MAX } from "../limits.ts";

interface RateWindow {
  readonly used: number;
  /** Null: no limit. */
  readonly limit: number | null;
  /** Epoch milliseconds. */
  readonly resetsAt: number;
}

/** The service's value of `X-RateLimit-Limit` if there is no limit. */
const NO_LIMIT = 2_147_483_647;

export const rateWindows = signal<ReadonlyMap<string, RateWindow>>(new Map());

export function updateRateWindow(projectId: string, headers: Headers): void {
  const number = (name: string) => Number(headers.get(name) ?? NaN);
  const limit = number("x-ratelimit-limit");
  const remaining = number("x-ratelimit-remaining");
  const reset = number("x-ratelimit-reset");
  if (![limit, remaining, reset].every(Number.isFinite)) return;
  const seen = limit === NO_LIMIT
    ? { used: 0, limit: null, resetsAt: reset * 1000 }
    : { used: limit - remaining, limit, resetsAt: reset * 1000 };
  rateWindows.value = new Map(rateWindows.value).set(projectId, seen);
}

/** Returns whether automatic requests may use more of the window. Agents keep the rest. */
export function hasShareLeft(projectId: string): boolean {
  const seen = rateWindows.value.get(projectId);
  if (seen === undefined || seen.limit === null || seen.resetsAt <= Date.now()) return true;
  return seen.used < seen.limit * UNASKED_REQUESTS_SHARE_MAX;
}
