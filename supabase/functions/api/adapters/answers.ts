/** Shapes of what the SQL functions return, checked where they enter. See `supabase/schemas/30_records.sql`. */
import { z } from "zod";
import type { AccountAnswer, Answer } from "../ports.ts";

const rate = z.object({ limit: z.number().nullable(), remaining: z.number().nullable(), reset: z.number() });

const grant = z.object({
  projectId: z.string(),
  keyId: z.string().nullable(),
  scopes: z.array(z.enum(["read", "write", "admin"])),
  tier: z.string(),
  maxFileBytes: z.number().nullable(),
});

export const segment = z.object({
  id: z.string(),
  name: z.string(),
  size: z.number(),
  sha256: z.string(),
  newlines: z.number(),
  endsWithNewline: z.boolean(),
  isText: z.boolean(),
});

const refusal = z.object({
  code: z.enum([
    "INVALID_API_KEY",
    "RATE_LIMIT_EXCEEDED",
    "FORBIDDEN_SCOPE",
    "FILE_NOT_FOUND",
    "VERSION_NOT_FOUND",
    "VERSION_CONFLICT",
    "VERSION_DELETED",
    "PRECONDITION_FAILED",
    "FILE_ALREADY_EXISTS",
    "IDEMPOTENCY_KEY_REUSED",
    "IDEMPOTENCY_KEY_IN_USE",
    "CONTENT_TOO_LARGE",
    "QUOTA_EXCEEDED",
    "SEGMENT_LIST_FULL",
    "VALIDATION_ERROR",
    "INVALID_SESSION",
    "PROJECT_NOT_FOUND",
    "PROJECT_NAME_TAKEN",
    "PROJECT_LIMIT_REACHED",
    "KEY_NOT_FOUND",
    "KEY_REVOKED",
    "KEY_LIMIT_REACHED",
  ]),
  details: z.record(z.string(), z.unknown()),
});

export const fileRecord = z.object({
  id: z.string(),
  path: z.string(),
  version: z.number(),
  mimeType: z.string(),
  size: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
  deleted: z.boolean().optional(),
});

export const authorization = z.object({
  file: z.object({ version: z.number(), size: z.number() }).nullable(),
  deletedVersion: z.number().nullable(),
});

export const content = z.object({ file: fileRecord, segments: z.array(segment) });

export const versionPage = z.object({
  file: z.object({ path: z.string(), mimeType: z.string() }),
  versions: z.array(
    z.object({
      version: z.number(),
      size: z.number(),
      createdAt: z.string(),
      updatedAt: z.string(),
      deleted: z.boolean().optional(),
      keyId: z.string().optional(),
    }),
  ),
  total: z.number(),
  limit: z.number(),
  offset: z.number(),
});

export const listPage = z.object({
  files: z.array(fileRecord),
  directories: z.array(z.string()).optional(),
  total: z.number(),
  limit: z.number(),
  offset: z.number(),
  hasMore: z.boolean(),
});

/** With whatever the commit wanted to be said along with the record. */
const committedRecord = fileRecord.loose();

export const committed = z.object({
  file: committedRecord,
  segments: z.array(segment).nullish(),
  isReplayed: z.boolean().optional(),
}).transform(({ file, segments, isReplayed }) => ({
  file,
  segments: segments ?? null,
  isReplayed: isReplayed ?? false,
}));

export const editBase = z.union([z.object({ storedResponse: committedRecord }), content]);

const side = z.object({ size: z.number(), mimeType: z.string(), segments: z.array(segment) });

export const comparison = z.object({
  path: z.string(),
  from: z.number(),
  to: z.number(),
  before: side.nullable(),
  after: side.nullable(),
});

export const searchPage = z.object({
  files: z.array(z.object({
    file: fileRecord,
    skipped: z.enum(["too_large", "not_text"]).nullable(),
    content: z.string(),
    score: z.number(),
    chunk: z.object({ firstLine: z.number(), text: z.string() }).nullish(),
  })),
  next: z.string().nullish().transform((path) => path ?? null),
  hasMore: z.boolean().nullish().transform((hasMore) => hasMore ?? false),
  hasVectors: z.boolean(),
  lexemes: z.array(z.string()),
  pending: z.number(),
});

export const claim = z.object({
  claimId: z.string(),
  nextDueMilliseconds: z.number().nullable(),
  files: z.array(z.object({
    projectId: z.string(),
    fileId: z.string(),
    version: z.number(),
    path: z.string(),
    mimeType: z.string(),
    size: z.number(),
    isDeleted: z.boolean(),
    segments: z.array(segment),
    chunks: z.array(z.object({ hash: z.string(), text: z.string() })),
  })),
});

export const sweep = z.object({
  projectId: z.string(),
  through: z.string(),
  sweptThrough: z.string().nullable(),
  day: z.string().nullable(),
  kept: z.number(),
});

const envelope = z.object({
  rate: rate.optional(),
  grant: grant.optional(),
  value: z.unknown().optional(),
  refusal: refusal.optional(),
  segments: z.array(segment).optional(),
});

const accountEnvelope = z.object({ value: z.unknown().optional(), refusal: refusal.optional() });

/** The answer of a function for accounts. Throws where the database answers another shape. */
export function parseAccountAnswer(data: unknown): AccountAnswer<unknown> {
  const answer = accountEnvelope.parse(data);
  return answer.refusal ? { ok: false, refusal: answer.refusal } : { ok: true, value: answer.value };
}

/** The answer of one SQL function, its value checked by `schema`. Throws where the database answers another shape. */
export function parseAnswer<T>(data: unknown, isRepeated: boolean, schema: z.ZodType<T>): Answer<T> {
  const answer = envelope.parse(data);
  const rest = { rate: answer.rate ?? null, grant: answer.grant ?? null, isRepeated };
  return answer.refusal
    ? { ...rest, ok: false, refusal: { ...answer.refusal, segments: answer.segments } }
    : { ...rest, ok: true, value: schema.parse(answer.value) };
}
