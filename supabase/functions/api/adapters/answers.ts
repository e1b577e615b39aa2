/**
 * What the SQL functions return, checked where it enters: records of the contract by its schemas, and around them what
 * only the service sees. See `supabase/schemas`.
 */
import { z } from "zod";
import { changedFile, fileList, fileRecord, purged, redacted } from "../contract/files.ts";
import { scope } from "../contract/values.ts";
import { skipped, unsearched } from "../contract/search.ts";
import { changePage } from "../contract/versions.ts";
import { REFUSAL_CODES } from "../errors.ts";
import type { AccountAnswer } from "../ports/accounts.ts";
import type { Answer, Grant, RateView, Refusal } from "../ports/answer.ts";
import type { BatchCommitted, Committed } from "../ports/commit.ts";
import type { ManyCommitted } from "../ports/commit_many.ts";
import type { FeedPage } from "../ports/changes.ts";
import type { Comparison, Content, EditBase, ListPage, Side } from "../ports/files.ts";
import type { Authorization, DeadSegment, DeletedProject, Sweep } from "../ports/metadata.ts";
import type { OpenedLink } from "../ports/links.ts";
import type { Claim, SearchPage } from "../ports/search_index.ts";
import type { Segment } from "../ports/segments.ts";

const rate = z.object({
  limit: z.number().nullable(),
  remaining: z.number().nullable(),
  reset: z.number(),
}) satisfies z.ZodType<RateView>;

const grant = z.object({
  projectId: z.string(),
  accountId: z.string().nullable(),
  keyId: z.string().nullable(),
  scopes: z.array(scope),
  tier: z.string(),
  maxFileBytes: z.number().nullable(),
  pathPrefix: z.string().nullable(),
}) satisfies z.ZodType<Grant>;

export const segment = z.object({
  id: z.string(),
  name: z.string(),
  size: z.number(),
  sha256: z.string(),
  newlines: z.number(),
  endsWithNewline: z.boolean(),
  isText: z.boolean(),
}) satisfies z.ZodType<Segment>;

const refusal = z.object({
  code: z.enum([...REFUSAL_CODES, "SEGMENT_LIST_FULL"]),
  details: z.record(z.string(), z.unknown()),
}) satisfies z.ZodType<Refusal>;

export const authorization = z.object({
  file: z.object({ version: z.number(), size: z.number() }).nullable(),
  deletedVersion: z.number().nullable(),
}) satisfies z.ZodType<Authorization>;

export const content = z.object({ file: fileRecord, segments: z.array(segment) }) satisfies z.ZodType<
  Content
>;

export const listPage = fileList.extend({ examined: z.number().optional() }) satisfies z.ZodType<ListPage>;

export const feedPage = changePage.extend({ position: z.number() }) satisfies z.ZodType<FeedPage>;

/** A record with the `extra` fields of the commit. */
const committedRecord = changedFile.loose();

export const committed = z.object({
  file: committedRecord,
  segments: z.array(segment).nullish(),
  isReplayed: z.boolean().optional(),
}).transform(({ file, segments, isReplayed }) => ({
  file,
  segments: segments ?? null,
  isReplayed: isReplayed ?? false,
})) satisfies z.ZodType<Committed>;

/** The answer of a commit of many files. */
export function manyCommitted<T>(answer: z.ZodType<T>): z.ZodType<ManyCommitted<T>> {
  return z.looseObject({ isReplayed: z.boolean().optional() }).transform(({ isReplayed, ...value }) => ({
    value: answer.parse(value),
    isReplayed: isReplayed ?? false,
  }));
}

export const batchCommitted = z.object({
  results: z.array(committedRecord),
  isReplayed: z.boolean().default(false),
}) satisfies z.ZodType<BatchCommitted>;

export const editBase = z.union([
  z.object({ storedResponse: committedRecord }),
  content,
]) satisfies z.ZodType<EditBase>;

const side = z.object({
  size: z.number(),
  mimeType: z.string(),
  segments: z.array(segment),
}) satisfies z.ZodType<Side>;

export const comparison = z.object({
  path: z.string(),
  from: z.number(),
  to: z.number(),
  before: side.nullable(),
  after: side.nullable(),
}) satisfies z.ZodType<Comparison>;

export const openedLink = z.object({
  path: z.string(),
  contentType: z.string().nullable(),
  ifVersion: z.number().nullable(),
  isUsed: z.boolean(),
}) satisfies z.ZodType<OpenedLink>;

export const searchPage = z.object({
  files: z.array(z.object({
    file: fileRecord,
    skipped: skipped.nullable(),
    content: z.string(),
    score: z.number(),
    chunk: z.object({ firstLine: z.number(), text: z.string() }).nullish(),
  })),
  next: z.string().nullish().transform((path) => path ?? null),
  walked: z.boolean().nullish().transform((walked) => walked ?? false),
  hasMore: z.boolean().nullish().transform((hasMore) => hasMore ?? false),
  hasVectors: z.boolean(),
  lexemes: z.array(z.string()),
  pending: z.number(),
  scope: z.string().nullable(),
  stage: z.number(),
  isVectorCut: z.boolean(),
  unsearched: unsearched.extend({
    files: z.number(),
    reasons: z.array(unsearched.shape.reasons.element),
    live: z.array(z.object({ file: fileRecord, segments: z.array(segment) })),
    isComplete: z.boolean(),
  }).nullable(),
}) satisfies z.ZodType<SearchPage>;

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
    tries: z.number(),
    segments: z.array(segment),
    chunks: z.array(z.object({ hash: z.string(), text: z.string() })),
  })),
}) satisfies z.ZodType<Claim>;

export const purge = z.object({
  file: purged.omit({ path: true }),
  isReplayed: z.literal(true).optional(),
}).transform(({ file, isReplayed }) => ({ value: file, isReplayed: isReplayed === true }));

export const redaction = redacted.omit({ path: true });

export const deadSegments = z.array(
  z.object({ id: z.string(), name: z.string() }),
) satisfies z.ZodType<readonly DeadSegment[]>;

export const sweep = z.object({
  projectId: z.string(),
  through: z.string(),
  sweptThrough: z.string().nullable(),
  day: z.string().nullable(),
  kept: z.number(),
}) satisfies z.ZodType<Sweep>;

export const deletedProject = z.object({
  projectId: z.string(),
  objects: z.array(z.string()),
  isEmptied: z.boolean(),
}) satisfies z.ZodType<DeletedProject>;

const envelope = z.object({
  rate: rate.optional(),
  grant: grant.optional(),
  value: z.unknown().optional(),
  refusal: refusal.optional(),
  segments: z.array(segment).optional(),
});

const accountEnvelope = z.object({
  rate: rate.optional(),
  value: z.unknown().optional(),
  refusal: refusal.optional(),
});

/** The answer of a function for accounts. Throws where the database returns another shape. */
export function parseAccountAnswer(data: unknown): AccountAnswer<unknown> {
  const { rate = null, value, refusal } = accountEnvelope.parse(data);
  return refusal ? { rate, ok: false, refusal } : { rate, ok: true, value };
}

/** The answer of one SQL function, its value checked by `schema`. Throws where the database returns another shape. */
export function parseAnswer<T>(data: unknown, isAmbiguous: boolean, schema: z.ZodType<T>): Answer<T> {
  const answer = envelope.parse(data);
  const rest = { rate: answer.rate ?? null, grant: answer.grant ?? null, isAmbiguous };
  return answer.refusal
    ? { ...rest, ok: false, refusal: { ...answer.refusal, segments: answer.segments } }
    : { ...rest, ok: true, value: schema.parse(answer.value) };
}
