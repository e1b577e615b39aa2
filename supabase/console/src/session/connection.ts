/** Whether the service can be reached, and whether requests wait for the rate limit. */
import { signal } from "@preact/signals";
import { config } from "../config.ts";
import { RECONNECT_MILLISECONDS } from "../limits.ts";
import { sleep } from "../sleep.ts";

export const isOffline = signal(false);
/** Number of reconnections. Data that failed to load is loaded again when it increases. */
export const recoveries = signal(0);
/** The time until which requests wait, in epoch milliseconds, or null. */
export const waitingUntil = signal<number | null>(null);

export function connectionLost(): void {
  if (isOffline.value) return;
  isOffline.value = true;
  setTimeout(probe, RECONNECT_MILLISECONDS);
}

export function connectionRestored(): void {
  if (!isOffline.value) return;
  isOffline.value = false;
  recoveries.value++;
}

/** The health route requires no key and is not rate limited. A 4xx also proves that the service is reachable. */
async function probe(): Promise<void> {
  if (!isOffline.value) return;
  try {
    const { status } = await fetch(`${config().functionUrl}/health`, { cache: "no-store" });
    if (status < 500) return connectionRestored();
  } catch {
    // Still offline.
  }
  setTimeout(probe, RECONNECT_MILLISECONDS);
}

/** Resolves after `seconds`, while the banner counts down. Rejects if the request is aborted. */
export async function waitForRate(seconds: number, signal?: AbortSignal): Promise<void> {
  const milliseconds = seconds * 1000;
  waitingUntil.value = Math.max(Date.now() + milliseconds, waitingUntil.value ?? 0);
  // Applies even if this request is aborted: the project has no requests left until then.
  setTimeout(() => {
    if ((waitingUntil.value ?? 0) <= Date.now()) waitingUntil.value = null;
  }, milliseconds + 50);
  await sleep(milliseconds, signal);
}

globalThis.addEventListener("offline", connectionLost);
