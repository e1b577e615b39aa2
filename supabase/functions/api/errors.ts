/** Errors are thrown by `fail(code, message, details?)`, and rendered in one place, `app.ts`. */
import { type ErrorCode, ERRORS } from "./contract/errors.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "./limits.ts";

export * from "./contract/errors.ts";

/** An error that the client sees. May be thrown anywhere below `app.ts`, which renders it. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
    readonly headers?: Readonly<Record<string, string>>,
    /** Overrides the status of the table, for the one code that has two. */
    readonly otherStatus?: number,
  ) {
    super(message);
  }

  get status(): number {
    return this.otherStatus ?? ERRORS[this.code].status;
  }
}

/** Throws an ApiError. The message is for the client: it never contains content, keys or internals. */
export function fail(
  code: ErrorCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
  headers?: Readonly<Record<string, string>>,
): never {
  throw new ApiError(code, message, details, headers);
}

/** Throws VALIDATION_ERROR for one field, header or parameter. */
export function failField(path: string, reason: string, details?: Readonly<Record<string, unknown>>): never {
  fail("VALIDATION_ERROR", `${path}: ${reason}`, { issues: [{ path, reason }], ...details });
}

/** A 503 that the client may retry: by default because the back end stays out of reach. */
export function unavailable(message = "The service is briefly unavailable. Try again."): ApiError {
  return new ApiError("SERVICE_UNAVAILABLE", message, undefined, {
    "Retry-After": String(UNAVAILABLE_RETRY_AFTER_SECONDS),
  });
}
