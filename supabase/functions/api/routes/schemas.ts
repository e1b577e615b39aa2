/** The records of the contract: they validate requests, document responses and define the types. */
import { z } from "zod";
import { MEDIA_TYPES } from "../files/media_type.ts";
import { isRunId, RUN_ID_RULE, RUN_ID_SHAPE } from "../http/provenance.ts";
import { VERSION_OPERATIONS } from "../ports/files.ts";
import { INTEGER_MAX, PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX } from "../limits.ts";

export const mediaType = z.enum(MEDIA_TYPES);

export const fileRecord = z.object({
  id: z.uuid(),
  path: z.string(),
  version: z.int().min(1),
  mimeType: z.string(),
  size: z.int().min(0).meta({ description: "Bytes of the stored content." }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
}).meta({ id: "FileRecord" });

const lineNumber = z.int().min(0).optional();
export const readRecord = fileRecord.extend({
  content: z.string(),
  isBase64: z.literal(true).optional().meta({ description: "Present where `content` is base64." }),
  startLine: lineNumber.meta({ description: "With `lines=`: the first line that is there, from 1." }),
  endLine: lineNumber.meta({ description: "With `lines=`: the last one." }),
  totalLines: lineNumber.meta({ description: "With `lines=`: of the whole version." }),
}).meta({ id: "ReadRecord" });

/** Postgres stores no NUL in a text. */
export const withoutNul = [(text: string) => !text.includes("\0"), "must not contain NUL"] as const;

/** A position in the change feed. */
export const cursor = z.string().regex(/^[0-9a-f]{32}$/);

/** The id of a run, as a client has made it. */
export const runId = z.string().refine(isRunId, RUN_ID_RULE).meta({ pattern: RUN_ID_SHAPE.source });

/** With which keys a file was changed in a run. */
export function whose<Own extends z.ZodType<boolean | undefined>>(own: Own) {
  return {
    own: own.meta({
      description: "Whether all of it in the run was made with the calling key; of a person, in the console.",
    }),
    keyIds: z.array(z.uuid()).optional().meta({
      description:
        "The keys with which it was made, for the owner and keys with `admin`. The console has none.",
    }),
  };
}

/** What made a version, and what was said of it. */
export const versionOrigin = z.object({
  operation: z.enum(VERSION_OPERATIONS).meta({ description: "What made the version." }),
  runId: z.string().optional().meta({ description: "`X-Run-Id` of the request." }),
  actor: z.string().optional().meta({ description: "`X-Actor` of the request." }),
  note: z.string().optional().meta({ description: "`X-Change-Note` of the request, decoded." }),
  from: z.object({ path: z.string(), version: z.int().min(1) }).optional().meta({
    description: "Of a copy, move or restore: where the content is from, if the key sees that path.",
  }),
  keyId: z.uuid().optional().meta({
    description:
      "For the owner, and keys with the scope `admin`: the key that wrote it; absent where it was the console.",
  }),
});

const DATE = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** An ISO 8601 date (midnight UTC) or date and time with a zone; parsed to ISO 8601 in UTC. */
export const date = z.string().regex(DATE, "must be an ISO 8601 date, or date and time with a zone")
  .transform((text, context) => {
    const time = new Date(text.replace(" ", "T"));
    const year = time.getUTCFullYear();
    // A zone can move a time beyond the four digits of a year. NaN is in no range.
    if (year >= 1 && year <= 9999 && isDay(text.slice(0, 10))) return time.toISOString();
    context.addIssue({ code: "custom", message: "must be a valid date" });
    return z.NEVER;
  })
  .meta({ type: "string", format: "date-time" });

/** Whether the day exists: `Date` parses 30 February as 1 March. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/** The project as it was: a time, parsed to ISO 8601 in UTC, or a cursor of the change feed. */
export const moment = z.union([cursor, date], "must be an ISO 8601 time with a zone, or a cursor");

/** For examples. */
export const EXAMPLE_RECORD = {
  id: "0190a1b2-7c3d-4e5f-8a9b-0c1d2e3f4a5b",
  path: "notes/plan.md",
  version: 3,
  mimeType: "text/markdown",
  size: 17,
  createdAt: "2026-11-20T09:30:00.000Z",
  updatedAt: "2026-11-20T10:15:30.250Z",
};

export const editRecord = fileRecord.extend({
  replacements: z.int().min(1),
}).meta({ id: "EditRecord" });

/** A whole number in a query: digits only, within its range. */
export function wholeNumber(minimum: number, maximum = INTEGER_MAX) {
  return z.string().regex(/^\d{1,10}$/, "must be a whole number").transform(Number)
    .pipe(z.number().min(minimum).max(maximum))
    .meta({ type: "integer", minimum, maximum });
}

export const pageLimit = wholeNumber(1, PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT);
export const pageOffset = wholeNumber(0).default(0);

/** Request headers of every write. */
export const WRITE_HEADERS = ["If-Match", "Idempotency-Key"] as const;
/** Errors of every write to a file that exists. */
export const WRITE_ERRORS = [
  "INVALID_PATH",
  "VALIDATION_ERROR",
  "FILE_NOT_FOUND",
  "IDEMPOTENCY_KEY_IN_USE",
  "PRECONDITION_FAILED",
  ["FILE_ALREADY_EXISTS", 412],
  "IDEMPOTENCY_KEY_REUSED",
] as const;
/** Errors of every request with a JSON body. */
export const BODY_ERRORS = ["INVALID_JSON", "UNSUPPORTED_MEDIA_TYPE", "CONTENT_TOO_LARGE"] as const;
