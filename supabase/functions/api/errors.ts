/** Errors are thrown by `fail(code, message, details?)`, and rendered in one place, `app.ts`. */
import { type ErrorCode, ERRORS, type RefusalCode } from "./contract/errors.ts";
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

/**
 * The message of a refusal whose details say more than the sentence of its code. `keyPrefix`: the path prefix of the
 * key, beyond which it finds no files. `isPerson`: whether a person asked, not a key.
 */
export function messageOf(
  code: RefusalCode,
  details: Readonly<Record<string, unknown>>,
  keyPrefix: string | null = null,
  isPerson = false,
): string {
  const { message } = ERRORS[code];
  const { issues, directory, deletedVersion, version, scope, role, pathPrefix, suspended, limit } = details;
  switch (code) {
    case "VALIDATION_ERROR": {
      const [issue] = Array.isArray(issues) ? issues : [];
      return issue ? `${Reflect.get(issue, "path")}: ${Reflect.get(issue, "reason")}` : message;
    }
    case "FILE_NOT_FOUND":
      if (directory === true) return "This path is a directory, which can be listed but not read.";
      if (deletedVersion !== undefined) return `The file was deleted by its version ${deletedVersion}.`;
      return keyPrefix === null ? message : `${message} The key reaches only paths below \`${keyPrefix}\`.`;
    case "PRECONDITION_FAILED":
      if (details.expected === true) {
        return "The folder was changed since the cursor `expected`. Nothing was done.";
      }
      if (version === undefined) return message;
      return `The file is at version ${version}, which is not the one that the request expects. Nothing was done. ` +
        "`If-Match` takes the `ETag` of a read.";
    case "FORBIDDEN_SCOPE":
      if (suspended === true) return "The operator has suspended the project.";
      if (pathPrefix !== undefined) return `The key can write only below \`${pathPrefix}\`.`;
      if (role !== undefined) return `Only the project's ${role} may do this.`;
      if (scope === undefined) return message;
      return `${isPerson ? "Your role in the project" : "The key"} lacks the scope \`${scope}\`.`;
    case "PROJECT_LIMIT_REACHED":
      if (limit !== 0) return message;
      return "This account may not create projects. `GET /account` gives the reason; the operator can create one for it.";
  }
  return message;
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
