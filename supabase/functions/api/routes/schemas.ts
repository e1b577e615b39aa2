/** The records of the contract: they validate requests, document responses and define the types. */
import { z } from "zod";
import { MEDIA_TYPES } from "../files/media_type.ts";
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
  "IDEMPOTENCY_KEY_REUSED",
] as const;
/** Errors of every request with a JSON body. */
export const BODY_ERRORS = ["INVALID_JSON", "UNSUPPORTED_MEDIA_TYPE", "CONTENT_TOO_LARGE"] as const;

/** Marks the body of a PUT as the bytes themselves, whatever its Content-Type. */
export const rawQuery = z.object({
  raw: z.enum(["", "true", "false"]).optional().meta({
    description: "Present, or `true`: the body is the bytes themselves.",
  }),
});
