/** How Supabase is called: a time-out per call, a bounded number of tries with jitter, one deadline for all of them. */
import { unavailable } from "../errors.ts";
import {
  BACKEND_BACKOFF_MILLISECONDS,
  BACKEND_CALL_TIMEOUT_MILLISECONDS,
  BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS,
  BACKEND_DEADLINE_MILLISECONDS,
  BACKEND_TRIES_MAX,
} from "../limits.ts";
import type { Log } from "../runtime/log.ts";

/** The outcome of one try: a value, or a transient failure and its reason. Other failures are thrown. */
export type Outcome<T> = { readonly value: T } | { readonly transient: string };

/** Cheaper than the stream of a Blob, which crosses from JavaScript to the runtime and back. */
function toStream(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

let timeout: { readonly signal: AbortSignal; readonly startedAt: number } | undefined;

/**
 * The time-out of a call that begins now. Time-out signals cannot be cancelled, and each that fires for a call that has
 * ended long ago costs more than creating it did: so calls that begin together share one.
 */
function callTimeout(): AbortSignal {
  const now = performance.now();
  if (timeout === undefined || now - timeout.startedAt >= BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS) {
    timeout = { signal: AbortSignal.timeout(BACKEND_CALL_TIMEOUT_MILLISECONDS), startedAt: now };
  }
  return timeout.signal;
}

/**
 * `fetch` that times out after BACKEND_CALL_TIMEOUT_MILLISECONDS, the body included, and sends the request only once. By
 * itself `fetch` silently sends a request again when a kept-alive connection breaks before the response: a commit would
 * then not be known to be ambiguous, and its segments would be taken for unreferenced. It never resends a stream.
 */
export function fetchInTime(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const signal = init?.signal ? AbortSignal.any([init.signal, callTimeout()]) : callTimeout();
  const body = typeof init?.body === "string" && init.body !== "" ? toStream(init.body) : init?.body;
  return fetch(input, { ...init, signal, ...(body !== undefined && { body }) });
}

/**
 * Runs `call` until it returns a value; `call` gets the number of the try, from 1. Throws SERVICE_UNAVAILABLE when tries
 * or time are used up.
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
