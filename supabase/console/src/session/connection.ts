/// <reference lib="dom" />
/** Whether the service can be reached, and whether it asked us to wait. */
import { signal } from "@preact/signals";
import { config } from "../config.ts";
import { RECONNECT_MILLISECONDS } from "../limits.ts";
import { sleep } from "../sleep.ts";

export const isOffline = signal(false);
/** Counts recoveries: what was loaded before one may have failed and is loaded again. */
export const recoveries = signal(0);
/** Epoch milliseconds until which requests wait, or null. */
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

/** Health needs no key and counts against nobody. A service that refuses is there, too. */
async function probe(): Promise<void> {
  if (!isOffline.value) return;
  try {
    const { status } = await fetch(`${config().functionUrl}/health`, { cache: "no-store" });
    if (status < 500) return connectionRestored();
  } catch {
    // Still away.
  }
  setTimeout(probe, RECONNECT_MILLISECONDS);
}

/** Resolves after the wait; the banner counts down meanwhile. Rejects when the request is given up. */
export async function waitForRate(seconds: number, signal?: AbortSignal): Promise<void> {
  const milliseconds = seconds * 1000;
  waitingUntil.value = Math.max(Date.now() + milliseconds, waitingUntil.value ?? 0);
  // Given up or not, the project's requests are used up until then.
  setTimeout(() => {
    if ((waitingUntil.value ?? 0) <= Date.now()) waitingUntil.value = null;
  }, milliseconds + 50);
  await sleep(milliseconds, signal);
}

globalThis.addEventListener("offline", connectionLost);
