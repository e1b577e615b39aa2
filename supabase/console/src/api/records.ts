/** Schemas of the responses; each response is validated when it is received. */
import * as z from "zod/mini";

const limit = z.nullable(z.number());

const retention = z.object({
  keepVersions: z.optional(z.number()),
  keepDays: z.optional(z.number()),
  deletedDays: z.optional(z.number()),
});
/** Which versions go by themselves. */
export type Retention = z.infer<typeof retention>;

export const projectSchema = z.object({
  id: z.string(),
  name: z.string(),
  tier: z.string(),
  createdAt: z.string(),
  limits: z.object({ requestsPerMinute: limit, maxFileBytes: limit, maxProjectBytes: limit }),
  retention: z.nullable(retention),
  usage: z.object({
    files: z.number(),
    filesIsExact: z.optional(z.boolean()),
    bytes: z.number(),
    databaseBytes: z.number(),
    versions: z.number(),
    requestsThisMinute: z.number(),
  }),
  keyPrefix: z.nullable(z.string()),
});
export type Project = z.infer<typeof projectSchema>;

export const projectsSchema = z.object({ projects: z.array(projectSchema) });

export const keySchema = z.object({
  id: z.string(),
  prefix: z.string(),
  name: z.nullable(z.string()),
  environment: z.string(),
  scopes: z.array(z.string()),
  pathPrefix: z.nullable(z.string()),
  createdAt: z.string(),
  expiresAt: z.nullable(z.string()),
  revokedAt: z.nullable(z.string()),
  lastUsedAt: z.nullable(z.string()),
});
export type Key = z.infer<typeof keySchema>;

export const keysSchema = z.object({ keys: z.array(keySchema) });
export const newKeySchema = z.extend(keySchema, { key: z.string() });
export type NewKey = z.infer<typeof newKeySchema>;

/** What made a version, and what was said of it. */
export const origin = {
  operation: z.string(),
  runId: z.optional(z.string()),
  actor: z.optional(z.string()),
  note: z.optional(z.string()),
  from: z.optional(z.object({ path: z.string(), version: z.number() })),
  keyId: z.nullish(z.string()),
};

const run = {
  runId: z.string(),
  actors: z.array(z.string()),
  fileCount: z.number(),
  versionCount: z.number(),
  firstAt: z.string(),
  lastAt: z.string(),
  countsAreExact: z.optional(z.boolean()),
};

export const runPageSchema = z.object({
  runs: z.array(z.object(run)),
  cursor: z.string(),
  hasMore: z.boolean(),
});
export type RunPage = z.infer<typeof runPageSchema>;
export type Run = RunPage["runs"][number];

export const runDetailsSchema = z.object({
  ...run,
  files: z.array(z.object({
    path: z.string(),
    fileId: z.string(),
    firstVersion: z.number(),
    lastVersion: z.number(),
    operation: z.string(),
    own: z.boolean(),
    keyIds: z.optional(z.array(z.string())),
  })),
  hasMore: z.boolean(),
});
export type RunDetails = z.infer<typeof runDetailsSchema>;
export type RunFile = RunDetails["files"][number];

export const undoSchema = z.object({
  runId: z.nullable(z.string()),
  actions: z.array(z.object({
    path: z.string(),
    action: z.enum(["restore", "delete"]),
    from: z.number(),
    to: z.nullable(z.number()),
  })),
  unchanged: z.array(z.string()),
  conflicts: z.array(z.object({
    path: z.string(),
    version: z.number(),
    actor: z.nullable(z.string()),
    runId: z.nullable(z.string()),
    reason: z.optional(z.string()),
  })),
  /** Of a folder: files whose version of that time is gone. */
  trimmed: z.optional(z.array(z.string())),
});
export type Undo = z.infer<typeof undoSchema>;

export const fileSchema = z.object({
  id: z.string(),
  path: z.string(),
  version: z.number(),
  mimeType: z.string(),
  size: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type FileRecord = z.infer<typeof fileSchema>;

export const fileListSchema = z.object({
  files: z.array(fileSchema),
  directories: z.optional(z.array(z.string())),
  /** Null: not counted, after a cursor. */
  total: z.nullable(z.number()),
  /** False: there are more. */
  totalIsExact: z.optional(z.boolean()),
  hasMore: z.boolean(),
});
export type FileList = z.infer<typeof fileListSchema>;

export const versionListSchema = z.object({
  file: z.object({ path: z.string(), mimeType: z.string() }),
  versions: z.array(z.object({
    version: z.number(),
    size: z.number(),
    createdAt: z.string(),
    deleted: z.optional(z.boolean()),
    redactedAt: z.optional(z.string()),
    ...origin,
  })),
  total: z.number(),
});
export type Version = z.infer<typeof versionListSchema>["versions"][number];

/** Some lines of a text, each with its line break. */
export const linesSchema = z.object({
  content: z.string(),
  startLine: z.number(),
  endLine: z.number(),
  totalLines: z.number(),
});
export type Lines = z.infer<typeof linesSchema>;

export const deletedSchema = z.object({ id: z.string(), deletedAt: z.string() });

export const diffSchema = z.object({
  from: z.number(),
  to: z.number(),
  diff: z.string(),
  additions: z.number(),
  deletions: z.number(),
});
export type Diff = z.infer<typeof diffSchema>;

export const searchSchema = z.object({
  results: z.array(z.object({
    path: z.string(),
    version: z.number(),
    mimeType: z.string(),
    size: z.number(),
    updatedAt: z.string(),
    matches: z.array(z.object({
      line: z.number(),
      snippet: z.string(),
    })),
    skipped: z.optional(z.string()),
  })),
  mode: z.string(),
  hasMore: z.boolean(),
  indexed: z.object({ pending: z.number() }),
  notSearched: z.optional(z.object({
    files: z.number(),
    bytes: z.number(),
    paths: z.array(z.string()),
    reasons: z.array(z.string()),
  })),
});
export type SearchResults = z.infer<typeof searchSchema>;

export const envelopeSchema = z.union([
  z.object({ success: z.literal(true), data: z.unknown() }),
  z.object({
    success: z.literal(false),
    error: z.object({ code: z.string(), message: z.string() }),
    details: z.optional(z.unknown()),
  }),
]);
