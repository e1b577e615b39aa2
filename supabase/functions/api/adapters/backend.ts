/** How Supabase is called: a time-out for each call, bounded tries with jitter, one deadline for them all. */
import { unavailable } from "../errors.ts";
import {
  BACKEND_BACKOFF_MILLISECONDS,
  BACKEND_CALL_TIMEOUT_MILLISECONDS,
  BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS,
  BACKEND_DEADLINE_MILLISECONDS,
  BACKEND_TRIES_MAX,
} from "../limits.ts";
import type { Log } from "../runtime/log.ts";

/** What one try came to: a value, or a failure that may pass. A defect is thrown. */
export type Outcome<T> = { readonly value: T } | { readonly transient: string };

/** Cheaper than a Blob's stream, which is made outside of JavaScript and read back. */
function streamOf(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

let timeout: { readonly signal: AbortSignal; readonly startedAt: number } | undefined;

/**
 * The time-out of a call that begins now. Signals cannot be taken back, and each that fires for a call long answered
 * costs more than making it did: so calls that begin together share one.
 */
function callTimeout(): AbortSignal {
  const now = performance.now();
  if (timeout === undefined || now - timeout.startedAt >= BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS) {
    timeout = { signal: AbortSignal.timeout(BACKEND_CALL_TIMEOUT_MILLISECONDS), startedAt: now };
  }
  return timeout.signal;
}

/**
 * `fetch` that gives up after BACKEND_CALL_TIMEOUT_MILLISECONDS, the body included, and asks once. By itself `fetch`
 * sends a request again, silently, when a kept connection breaks before the answer: a commit would then not be known
 * to be a repeated one, and its segments would be taken for unnamed. It does not do that with a body that is a stream.
 */
export function fetchInTime(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const signal = init?.signal ? AbortSignal.any([init.signal, callTimeout()]) : callTimeout();
  const body = typeof init?.body === "string" && init.body !== "" ? streamOf(init.body) : init?.body;
  return fetch(input, { ...init, signal, ...(body !== undefined && { body }) });
}

/**
 * Runs `call` until it has a value; it is told the number of the try, from 1. Throws SERVICE_UNAVAILABLE when
 * tries or time are used up.
 */
export async function withRetries<T>(
  name: string,
  log: Log,
  call: (tryNumber: number) => Promise<Outcome<T>>,
): Promise<T> {
  const deadline = Date.now() + BACKEND_DEADLINE_MILLISECONDS;
  for (let tryNumber = 1;; tryNumber++) {
    const outcome = await call(tryNumber);
    if ("value" in outcome) return outcome.value;
    log.backendFault(name, tryNumber, outcome.transient);
    const pause = BACKEND_BACKOFF_MILLISECONDS * 2 ** (tryNumber - 1) * (0.5 + Math.random());
    if (tryNumber >= BACKEND_TRIES_MAX || Date.now() + pause >= deadline) throw unavailable();
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
