/**
 * Shapes of what the SQL functions return, checked where they enter: each schema yields exactly the record of the port.
 * See `supabase/schemas`.
 */
import { z } from "zod";
import { REFUSAL_CODES } from "../errors.ts";
import type { AccountAnswer } from "../ports/accounts.ts";
import type { Answer, Grant, RateView, Refusal } from "../ports/answer.ts";
import type { BatchCommitted, Committed } from "../ports/commit.ts";
import type { BackAnswer, FolderAnswer, ManyCommitted } from "../ports/commit_many.ts";
import type { Change, ChangePage, Run, RunDetails, RunPage } from "../ports/changes.ts";
import {
  type Comparison,
  type Content,
  type EditBase,
  type FileRecord,
  type ListPage,
  type Side,
  VERSION_OPERATIONS,
  type VersionOrigin,
  type VersionPage,
} from "../ports/files.ts";
import type { Authorization, DeadSegment, DeletedProject, Sweep } from "../ports/metadata.ts";
import type { Purged, Redacted } from "../ports/erasure.ts";
import type { Link, OpenedLink } from "../ports/links.ts";
import { type Claim, type SearchPage, UNSEARCHED_REASONS } from "../ports/search_index.ts";
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
  scopes: z.array(z.enum(["read", "write", "admin"])),
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

export const fileRecord = z.object({
  id: z.string(),
  path: z.string(),
  version: z.number(),
  mimeType: z.string(),
  size: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
  deleted: z.boolean().optional(),
}) satisfies z.ZodType<FileRecord>;

export const authorization = z.object({
  file: z.object({ version: z.number(), size: z.number() }).nullable(),
  deletedVersion: z.number().nullable(),
}) satisfies z.ZodType<Authorization>;

export const content = z.object({ file: fileRecord, segments: z.array(segment) }) satisfies z.ZodType<
  Content
>;

const versionOrigin = z.object({
  operation: z.enum(VERSION_OPERATIONS),
  runId: z.string().optional(),
  actor: z.string().optional(),
  note: z.string().optional(),
  from: z.object({ path: z.string(), version: z.number() }).optional(),
  keyId: z.string().optional(),
}) satisfies z.ZodType<VersionOrigin>;

export const versionPage = z.object({
  file: z.object({ path: z.string(), mimeType: z.string() }),
  versions: z.array(
    versionOrigin.extend({
      version: z.number(),
      size: z.number(),
      createdAt: z.string(),
      updatedAt: z.string(),
      deleted: z.boolean().optional(),
      redactedAt: z.string().optional(),
      cursor: z.string(),
    }),
  ),
  total: z.number(),
  limit: z.number(),
  offset: z.number(),
}) satisfies z.ZodType<VersionPage>;

const change = versionOrigin.extend({
  cursor: z.string(),
  path: z.string().optional(),
  fileId: z.string(),
  version: z.number(),
  size: z.number(),
  mimeType: z.string(),
  deleted: z.boolean().optional(),
  commitId: z.string(),
  createdAt: z.string(),
}) satisfies z.ZodType<Change>;

export const changePage = z.object({
  changes: z.array(change),
  cursor: z.string(),
  hasMore: z.boolean(),
  position: z.number(),
}) satisfies z.ZodType<ChangePage>;

const run = z.object({
  runId: z.string(),
  actors: z.array(z.string()),
  fileCount: z.number(),
  versionCount: z.number(),
  firstAt: z.string(),
  lastAt: z.string(),
  countsAreExact: z.boolean().optional(),
}) satisfies z.ZodType<Run>;

const keyIds = z.array(z.string()).optional();

export const runPage = z.object({
  runs: z.array(run),
  cursor: z.string(),
  hasMore: z.boolean(),
}) satisfies z.ZodType<RunPage>;

export const runDetails = run.extend({
  files: z.array(z.object({
    path: z.string(),
    fileId: z.string(),
    firstVersion: z.number(),
    lastVersion: z.number(),
    operation: z.enum(VERSION_OPERATIONS),
    own: z.boolean(),
    keyIds,
  })),
  hasMore: z.boolean(),
}) satisfies z.ZodType<RunDetails>;

export const listPage = z.object({
  files: z.array(fileRecord),
  directories: z.array(z.string()).optional(),
  total: z.number().nullable().optional(),
  totalIsExact: z.literal(false).optional(),
  limit: z.number(),
  offset: z.number(),
  hasMore: z.boolean(),
  next: z.string().optional(),
  examined: z.number().optional(),
  hasMoreDirectories: z.boolean().optional(),
  trimmed: z.array(z.string()).optional(),
}) satisfies z.ZodType<ListPage>;

/** A record with the `extra` fields of the commit. */
const committedRecord = fileRecord.loose();

export const committed = z.object({
  file: committedRecord,
  segments: z.array(segment).nullish(),
  isReplayed: z.boolean().optional(),
}).transform(({ file, segments, isReplayed }) => ({
  file,
  segments: segments ?? null,
  isReplayed: isReplayed ?? false,
})) satisfies z.ZodType<Committed>;

export const folderAnswer = z.object({
  count: z.number(),
  files: z.array(z.object({ path: z.string(), version: z.number() })),
  trimmed: z.array(z.string()).optional(),
}) satisfies z.ZodType<FolderAnswer>;

export const backAnswer = z.object({
  runId: z.string().nullable(),
  undoneRunId: z.string().nullable(),
  actions: z.array(z.object({
    path: z.string(),
    action: z.enum(["restore", "delete"]),
    from: z.number(),
    to: z.number().nullable(),
    version: z.number().optional(),
    own: z.boolean().optional(),
    keyIds,
  })),
  unchanged: z.array(z.string()),
  conflicts: z.array(z.object({
    path: z.string(),
    version: z.number(),
    actor: z.string().nullable(),
    runId: z.string().nullable(),
    own: z.boolean().optional(),
    keyId: z.string().optional(),
    reason: z.enum(["gone", "moved", "unexamined"]).optional(),
  })),
  trimmed: z.array(z.string()).optional(),
}) satisfies z.ZodType<BackAnswer>;

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

export const link = z.object({
  id: z.string(),
  for: z.enum(["read", "write"]),
  path: z.string(),
  version: z.number().optional(),
  contentType: z.string().optional(),
  maxBytes: z.number().optional(),
  ifVersion: z.number().optional(),
  keyId: z.string().optional(),
  createdAt: z.string(),
  expiresAt: z.string(),
}) satisfies z.ZodType<Link>;

export const revokedLink = z.object({ id: z.string(), revokedAt: z.string() });

export const openedLink = z.object({
  path: z.string(),
  contentType: z.string().nullable(),
  ifVersion: z.number().nullable(),
  isUsed: z.boolean(),
}) satisfies z.ZodType<OpenedLink>;

export const searchPage = z.object({
  files: z.array(z.object({
    file: fileRecord,
    skipped: z.enum(["too_large", "not_text", "not_indexable"]).nullable(),
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
  unsearched: z.object({
    files: z.number(),
    bytes: z.number(),
    paths: z.array(z.string()),
    reasons: z.array(z.enum(UNSEARCHED_REASONS)),
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

export const purged = z.object({
  file: z.object({ versions: z.number(), bytes: z.number(), pendingVersions: z.number() }),
  isReplayed: z.literal(true).optional(),
}).transform(({ file, isReplayed }) => ({
  value: file,
  isReplayed: isReplayed === true,
})) satisfies z.ZodType<
  ManyCommitted<Purged>
>;

export const redacted = z.object({
  versions: z.array(z.number()),
  remaining: z.array(z.object({ path: z.string(), version: z.number() })),
}) satisfies z.ZodType<Redacted>;

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
