/**
 * The answers of the SQL functions: the one place that validates them. The module is loaded while the first call waits
 * for its answer, so a cold start does not pay for the schemas.
 */
import { z } from "zod";
import { appScope } from "../contract/apps.ts";
import { fileRecord, folderResult, purged, redacted } from "../contract/files.ts";
import * as branches from "../contract/branches.ts";
import { link } from "../contract/links.ts";
import * as runs from "../contract/runs.ts";
import { skipped, unsearched } from "../contract/search.ts";
import type { Wire } from "../contract/values.ts";
import * as versions from "../contract/versions.ts";
import { grant, rate, refusal } from "./answer.ts";
import { manyCommitted, textsToMerge } from "./commit.ts";
import * as files from "./files.ts";
import { segment } from "./segments.ts";

export { branch, branchPage, mergeResult } from "../contract/branches.ts";
export { fileRecord } from "../contract/files.ts";
export { link, revokedLink } from "../contract/links.ts";
export { undoResult } from "../contract/runs.ts";
export { batchCommitted, committed } from "./commit.ts";
export { comparison, content, editBase } from "./files.ts";
export { webhooksDue, webhookStep } from "./webhooks.ts";

export const listPage = typesOnly(files.listPage);
export const versionList = typesOnly(versions.versionList);
export const feedPage = typesOnly(files.feedPage);
export const runPage = typesOnly(runs.runPage);
export const runDetails = typesOnly(runs.runDetails);

/** The value of a function whose answer does not matter. */
export const nothing = z.unknown().transform(() => {});
export const anything = z.unknown();
export const confirmed = z.literal(true);
export const flag = z.boolean();
export const flags = z.array(z.boolean());
export const number = z.number();
export const ids = z.array(z.string());
/** What an app gets for a code or a refresh token. `expiresIn`: seconds. */
export const appTokens = z.union([
  z.object({ scopes: z.array(appScope), expiresIn: z.number() }),
  z.object({ error: z.enum(["invalid_grant", "invalid_scope"]) }),
]);
export const contents = z.array(files.content);
export const links = z.array(link);
export const folderCommitted = manyCommitted(folderResult);
export const revertCommitted = manyCommitted(runs.undoResult);
/** `isEnded`: whether nothing is left to merge, so that the branch has ended. */
export const mergeCommitted = manyCommitted(branches.mergeResult.extend({ isEnded: z.boolean() }));
/** Null: further files are to be copied. */
export const createdBranch = z.object({ branch: branches.branch.nullable() });
/** `isInside`: whether the key is confined to the branch. */
export const branchChanges = branches.branchDetails.extend({ isInside: z.boolean(), ...textsToMerge.shape });
export type BranchChanges = Wire<typeof branchChanges>;
/** Without the path, which the request names. */
export const redaction = redacted.omit({ path: true });
export const nextDeletedAccount = z.string().nullable();
export const deadSegments = z.array(segment.pick({ id: true, name: true }));

/** What every SQL function for clients returns: a value or a refusal. */
export const envelope = z.object({
  rate: rate.optional(),
  value: z.unknown().optional(),
  refusal: refusal.optional(),
});

/** What a function for the holder of a key returns. */
export const keyEnvelope = envelope.extend({
  grant: grant.optional(),
  segments: z.array(segment).optional(),
});

/** How far the sweep of one project has progressed. Days are `yyyy-mm-dd`, UTC. */
const sweep = z.object({
  projectId: z.string(),
  /** Commits no longer accept segments of this day or an earlier one, so all of these can be swept. */
  through: z.string(),
  /** All days up to this one are swept; null: nothing yet. */
  sweptThrough: z.string().nullable(),
  /** The day being swept, and how many of its objects were kept so far. */
  day: z.string().nullable(),
  kept: z.number(),
});
export type Sweep = Wire<typeof sweep>;
export const nextSweep = sweep.nullable();

/** A deleted project whose next sweep is due. */
const deletedProject = z.object({
  projectId: z.string(),
  /** Objects that a slice has recorded and perhaps not removed, as `{yyyymmdd}/{segmentId}`. */
  objects: z.array(z.string()),
  /** Whether this sweep of the project found no object left. */
  isEmptied: z.boolean(),
});
export type DeletedProject = Wire<typeof deletedProject>;
export const nextDeletedProject = deletedProject.nullable();

/** The file at the path of a write, read before any byte is stored. */
export const authorization = z.object({
  /** The live file at the path, if there is one. */
  file: z.object({ version: z.number(), size: z.number() }).nullable(),
  /** The tombstone at the path, if there is one. */
  deletedVersion: z.number().nullable(),
});
export type Authorization = Wire<typeof authorization>;

/** Without the path, which the request names. */
export const purge = z.object({
  file: purged.omit({ path: true }),
  isReplayed: z.literal(true).optional(),
}).transform(({ file, isReplayed }) => ({ value: file, isReplayed: isReplayed === true }));

/** The write that a link allows. */
export const openedLink = z.object({
  path: z.string(),
  contentType: z.string().nullable(),
  ifVersion: z.number().nullable(),
  /** Whether the one version was written. */
  isUsed: z.boolean(),
});

/** Text below the directory that the index does not contain: the files for live reads, and the other files. */
export const unsearchedPage = unsearched.extend({
  files: z.number(),
  reasons: z.array(unsearched.shape.reasons.element),
  live: z.array(files.content),
  /** False: more files may be missing from the index than are counted. */
  isComplete: z.boolean(),
});
export type UnsearchedPage = Wire<typeof unsearchedPage>;

export const foundFile = z.object({
  file: fileRecord,
  skipped: skipped.nullable(),
  /** The text of that version, with U+FFFE for NUL; for a skipped file, its path. */
  content: z.string(),
  score: z.number(),
  /** The chunk nearest to the vector. */
  chunk: z.object({ firstLine: z.number(), text: z.string() }).nullish(),
});
export type FoundFile = Wire<typeof foundFile>;

export const searchPage = z.object({
  files: z.array(foundFile),
  /** For a scan: the path after which to continue; null if no path is left. */
  next: z.string().nullish().transform((path) => path ?? null),
  /** For a scan: the index cannot find the pattern, and this call has read the maximum number of texts. */
  walked: z.boolean().nullish().transform((walked) => walked ?? false),
  /** For a ranking. */
  hasMore: z.boolean().nullish().transform((hasMore) => hasMore ?? false),
  /** Whether the database compares vectors. */
  hasVectors: z.boolean(),
  /** The stems of the query's words. */
  lexemes: z.array(z.string()),
  /** Files whose current version is not indexed yet. */
  pending: z.number(),
  /** The directory that was searched, within the prefix of the key, and the stage up to which it must be indexed. */
  scope: z.string().nullable(),
  stage: z.number(),
  /** Vectors of this size have no index, and the project has more of them than are compared. */
  isVectorCut: z.boolean(),
  /** Null if no file was searched, since the key sees no part of the directory. */
  unsearched: unsearchedPage.nullable(),
});
export type SearchPage = Wire<typeof searchPage>;

/** A leased file. No other isolate gets it until the lease has expired. */
const leasedFile = z.object({
  projectId: z.string(),
  fileId: z.string(),
  version: z.number(),
  path: z.string(),
  mimeType: z.string(),
  size: z.number(),
  isDeleted: z.boolean(),
  /** The number of leases of this version so far, including this one. */
  tries: z.number(),
  /** The version's segments, if its text must be stored and is small enough. */
  segments: z.array(segment),
  /** The chunks to embed. */
  chunks: z.array(z.object({ hash: z.string(), text: z.string() })),
});
export type LeasedFile = Wire<typeof leasedFile>;

export const lease = z.object({
  leaseId: z.string(),
  files: z.array(leasedFile),
  /** In how many milliseconds the next queued file is due, leased files included; null: none is queued. */
  nextDueMilliseconds: z.number().nullable(),
});
export type Lease = Wire<typeof lease>;

/**
 * The schema with types alone, without the forms of strings and the bounds of numbers. Pages use it: for 100 records,
 * checking forms takes 3 to 6 times as long. The tests compare the answers with the contract's own schemas.
 */
function typesOnly<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>>;
function typesOnly(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries<z.ZodType>(schema.shape).map(([name, field]) => [name, typesOnly(field)]);
    return z.object(Object.fromEntries(shape));
  }
  if (schema instanceof z.ZodArray) return z.array(typesOnly(schema.element as z.ZodType));
  if (schema instanceof z.ZodOptional) return typesOnly(schema.unwrap() as z.ZodType).optional();
  if (schema instanceof z.ZodNullable) return typesOnly(schema.unwrap() as z.ZodType).nullable();
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return z.string();
  if (schema instanceof z.ZodNumber) return z.number();
  return schema;
}
