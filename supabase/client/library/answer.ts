/** What an answer means: its data, a refusal, or a reason to send the request again. */
import { RETRY_AFTER_SECONDS_MAX } from "../limits.ts";
import { type Details, FilestoreError } from "./errors.ts";

/** Why a request can be sent again, and how long to wait before. */
export interface Obstacle {
  readonly code: string;
  readonly pauseMilliseconds?: number;
  /** The refusal, should it stay the last answer. */
  readonly error: FilestoreError;
}

type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The `data` of a successful answer. Throws UNKNOWN_ANSWER for anything else. The type is that of the contract for the
 * route; the service's own tests compare its answers with the contract.
 */
export function dataOf<T>(text: string, status: number, address: string): T {
  const json = parsed(text);
  if (!isObject(json) || json["success"] !== true || !isObject(json["data"])) {
    throw unknownAnswer(status, address);
  }
  const { data }: { data: T } = JSON.parse(text);
  return data;
}

/** The refusal in an answer with an error status, and whether the same request may succeed later. */
export function refusalOf(response: Response, text: string, address: string): FilestoreError | Obstacle {
  const { status, headers } = response;
  const error = errorOf(text, status, headers.get("x-request-id") ?? undefined) ??
    unknownAnswer(status, address);
  const isTransient = status === 429 || error.code === "IDEMPOTENCY_KEY_IN_USE" ||
    status >= 500 && !["CONTENT_CORRUPT", "SEMANTIC_SEARCH_UNAVAILABLE"].includes(error.code);
  if (!isTransient) return error;
  const after = Number(headers.get("retry-after")) || 0;
  return {
    code: error.code,
    error,
    ...after > 0 && { pauseMilliseconds: 1000 * Math.min(after, RETRY_AFTER_SECONDS_MAX) },
  };
}

function errorOf(text: string, status: number, requestId: string | undefined): FilestoreError | null {
  const json = parsed(text);
  if (!isObject(json) || !isObject(json["error"])) return null;
  const { code, message } = json["error"];
  if (typeof code !== "string" || typeof message !== "string") return null;
  const details: Details = isObject(json["details"]) ? json["details"] : {};
  return new FilestoreError(code, message, status, details, requestId);
}

function unknownAnswer(status: number, address: string): FilestoreError {
  return new FilestoreError(
    "UNKNOWN_ANSWER",
    `${address} answered with status ${status}, but not as this service does; check the address.`,
    status,
  );
}
