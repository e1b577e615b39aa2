/** The reason why a request failed, with the service's own message if it responded. */
import * as z from "zod/mini";

const lenient = <T extends z.ZodMiniType>(schema: T) => z.catch(z.optional(schema), undefined);
const number = lenient(z.number());

/** What a failure reports in addition to its message. A field of an unexpected type is left out. */
const detailsSchema = z.catch(
  z.object({
    issues: lenient(z.array(z.object({ path: z.string(), reason: z.string() }))),
    index: number,
    files: number,
    limit: number,
    version: number,
    deletedVersion: number,
    paths: lenient(z.array(z.string())),
    conflicts: lenient(z.array(z.object({ path: z.string() }))),
  }),
  {},
);

export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly details: z.infer<typeof detailsSchema>;

  /** `code` is a code of the contract, OFFLINE or UNEXPECTED_ANSWER; `status` is 0 without a response. */
  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    details?: unknown,
    readonly requestId: string | null = null,
  ) {
    super(message);
    this.details = detailsSchema.parse(details);
  }

  get issues() {
    return this.details.issues ?? [];
  }
}

export function offline(): ApiFailure {
  return new ApiFailure("OFFLINE", "The service cannot be reached.", 0);
}

/** Returns one sentence to display for a thrown value. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiFailure) {
    const [issue] = error.issues;
    const text = issue ? `${issue.path}: ${issue.reason}` : error.message;
    return error.status >= 500 && error.requestId ? `${text} (request ${error.requestId})` : text;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Returns the reason why one field is invalid, or undefined. A failure with one of `codes` concerns this field as a whole. */
export function reasonFor(error: unknown, field: string, ...codes: readonly string[]): string | undefined {
  if (!(error instanceof ApiFailure)) return undefined;
  if (codes.includes(error.code)) return error.message;
  return error.issues.find(({ path }) => path === field || path.startsWith(`${field}.`))?.reason;
}

/** Returns the reason why the path of a new file is invalid, or undefined. */
export function reasonForPath(error: unknown, field: string): string | undefined {
  return reasonFor(error, field, "INVALID_PATH", "FILE_ALREADY_EXISTS");
}

export function isCode(error: unknown, ...codes: readonly string[]): error is ApiFailure {
  return error instanceof ApiFailure && codes.includes(error.code);
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
