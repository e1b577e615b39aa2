/** The errors for requests that the database refuses, or the isolate by the database's recent answers. */
import { ApiError, ERRORS, fail, messageOf } from "../errors.ts";
import { COSTLY_REQUESTS_AT_ONCE } from "../limits.ts";
import type { RateView, Refusal } from "../ports/answer.ts";
import type { MinuteCounts } from "./minute_counts.ts";

/** The client whose failed authentications are counted. */
export interface Client {
  /** The client address that the platform vouches for. */
  readonly address: string;
  readonly failedAuth: MinuteCounts;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Throws the refusal as an ApiError; `otherStatus` for the one code that has two. `rate`: the window of the response.
 * `keyPrefix`: the path prefix of the key. `isPerson`: whether a person asked, not a key.
 */
export function throwRefusal(
  refusal: Refusal,
  client: Client,
  rate: RateView,
  keyPrefix: string | null = null,
  otherStatus?: number,
  isPerson = false,
): never {
  const { code } = refusal;
  if (code === "INVALID_API_KEY" || code === "INVALID_SESSION") throwUnauthenticated(code, client);
  if (code === "RATE_LIMIT_EXCEEDED") throwRateLimitExceeded(rate.reset, client.now());
  if (code === "SEGMENT_LIST_FULL") throw new Error("a full segment list was not compacted");
  if (code === "TEXTS_TO_MERGE") throw new Error("texts were not merged");
  if (code === "METHOD_NOT_ALLOWED") {
    const allowed = refusal.details["for"] === "read" ? "GET, HEAD" : "PUT";
    fail(code, ERRORS[code].message, undefined, { Allow: allowed });
  }
  const details = Object.keys(refusal.details).length > 0 ? refusal.details : undefined;
  const headers = code === "IDEMPOTENCY_KEY_IN_USE" ? { "Retry-After": "1" } : undefined;
  throw new ApiError(
    code,
    messageOf(code, refusal.details, keyPrefix, isPerson),
    details,
    headers,
    otherStatus,
  );
}

/** Throws 401, the same for every kind of bad key; 429 once the address has failed too often. */
export function throwUnauthenticated(
  code: "INVALID_API_KEY" | "INVALID_SESSION",
  client: Client,
  message: string = ERRORS[code].message,
): never {
  countFailure(client);
  fail(code, message);
}

/** Counts a failed authentication of the address. Throws 429 once it has failed too often. */
export function countFailure({ address, failedAuth, now }: Client): void {
  if (failedAuth.consume(address, now())) return;
  throwRateLimitExceeded(failedAuth.view(address, now()).reset, now());
}

/** `reset` in UTC epoch seconds, `now` in milliseconds. */
export function throwRateLimitExceeded(reset: number, now: number): never {
  const headers = { "Retry-After": String(Math.max(1, Math.ceil(reset - now / 1000))) };
  fail("RATE_LIMIT_EXCEEDED", ERRORS.RATE_LIMIT_EXCEEDED.message, undefined, headers);
}

/** The error where no slot of the account became free in time. The client waited already, so it may try again soon. */
export function busyAccount(): ApiError {
  const message = `${COSTLY_REQUESTS_AT_ONCE} costly requests of this account are already running. ` +
    "Try again when one of them has finished.";
  const details = { running: COSTLY_REQUESTS_AT_ONCE };
  return new ApiError("RATE_LIMIT_EXCEEDED", message, details, { "Retry-After": "1" });
}
