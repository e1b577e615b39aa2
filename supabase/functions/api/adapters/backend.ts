/** How Supabase is called: a time-out per call, a bounded number of tries with jitter, one deadline for all calls. */
import { unavailable } from "../errors.ts";
import {
  BACKEND_BACKOFF_MILLISECONDS,
  BACKEND_CALL_TIMEOUT_MILLISECONDS,
  BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS,
  BACKEND_TRIES_MAX,
} from "../limits.ts";
import { sleep } from "../runtime/clock.ts";
import { type Deadline, LATE } from "../runtime/deadline.ts";
import type { Log } from "../runtime/log.ts";
import type { Notice, Notices } from "./notices.ts";

/** The outcome of one try: a value, or a transient failure and its reason. Other failures are thrown. */
export type Outcome<T> =
  | { readonly value: T }
  | {
    readonly transient: string;
    /** Whether the call certainly had no effect. Default false: its answer was lost. */
    readonly isUndone?: boolean;
    /** The notice for the operator, if only the operator can fix the fault. */
    readonly notice?: Notice | undefined;
    /** Whether another try would also take too long. */
    readonly isFinal?: boolean;
  };

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
 * The time-out of a call that begins now. A time-out signal cannot be cancelled, and it costs more when it fires, long
 * after its call has ended, than when it is created. So calls that begin together use one signal.
 */
function callTimeout(): AbortSignal {
  const now = performance.now();
  if (timeout === undefined || now - timeout.startedAt >= BACKEND_CALL_TIMEOUT_SHARED_MILLISECONDS) {
    timeout = { signal: AbortSignal.timeout(BACKEND_CALL_TIMEOUT_MILLISECONDS), startedAt: now };
  }
  return timeout.signal;
}

/**
 * `fetch` that times out after BACKEND_CALL_TIMEOUT_MILLISECONDS, the body included, and sends the request only once.
 * By itself `fetch` silently sends a request again when a kept-alive connection breaks before the response. Then the
 * function would not know that a commit may have taken effect, and would remove its segments as unreferenced. `fetch`
 * never resends a stream, so the body is sent as a stream. The time-out also ends a call after its request has stopped
 * waiting for it.
 */
export function fetchInTime(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const signal = init?.signal ? AbortSignal.any([init.signal, callTimeout()]) : callTimeout();
  const body = typeof init?.body === "string" && init.body !== "" ? toStream(init.body) : init?.body;
  return fetch(input, { ...init, signal, ...(body !== undefined && { body }) });
}

/** The deadline of the caller (one request or one piece of background work), and the log and notices of the isolate. */
export interface CallParts {
  readonly log: Log;
  readonly notices: Notices;
  readonly deadline: Deadline;
}

/**
 * Runs `call` until it returns a value; `call` gets the number of the try, from 1. Throws SERVICE_UNAVAILABLE when
 * tries or time are used up. `onLost` runs after each try that may have taken effect, or still may.
 */
export function withRetries<T>(
  parts: CallParts,
  name: string,
  call: (tryNumber: number) => Promise<Outcome<T>>,
  onLost = () => {},
): Promise<T> {
  const { log, notices, deadline } = parts;
  return deadline.count(async () => {
    for (let tryNumber = 1;; tryNumber++) {
      if (deadline.remainingMilliseconds <= 0) throw unavailable();
      const outcome = await deadline.within(BACKEND_CALL_TIMEOUT_MILLISECONDS, call(tryNumber));
      if (outcome !== LATE && "value" in outcome) return outcome.value;
      const { transient, isUndone, notice, isFinal } = outcome === LATE ? TIMED_OUT : outcome;
      if (isUndone !== true) onLost();
      if (notice === undefined) log.backendFault(name, tryNumber, transient);
      else notices.report(notice);
      const pause = BACKEND_BACKOFF_MILLISECONDS * 2 ** (tryNumber - 1) * (0.5 + Math.random());
      if (isFinal || tryNumber >= BACKEND_TRIES_MAX || pause >= deadline.remainingMilliseconds) {
        throw unavailable();
      }
      await sleep(pause, deadline.clock);
    }
  });
}

const TIMED_OUT = { transient: "timeout", isUndone: false, notice: undefined, isFinal: false } as const;
