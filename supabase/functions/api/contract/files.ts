/** Files as answers show them. */
import { z } from "zod";
import { CONFLICTING_PATHS_SHOWN_MAX, LIST_TOTAL_MAX, REDACT_REMAINING_MAX } from "./limits.ts";
import { count, time, version, type Wire } from "./values.ts";

/** A file at one version. */
export const fileRecord = z.object({
  id: z.uuid(),
  path: z.string(),
  version,
  mimeType: z.string(),
  size: count.meta({ description: "Bytes of the stored content." }),
  createdAt: time,
  updatedAt: time,
}).meta({ id: "FileRecord" });
export type FileRecord = Wire<typeof fileRecord>;

const deleted = z.literal(true);

/** A file at a version that may be a tombstone. */
const listedFile = fileRecord.extend({ deleted: deleted.optional() });

export const tombstone = fileRecord.extend({ deleted });

const lineNumber = count.optional();
export const readRecord = fileRecord.extend({
  content: z.string(),
  isBase64: z.literal(true).optional().meta({ description: "Present where `content` is base64." }),
  startLine: lineNumber.meta({ description: "With `lines=`: the first line in `content`, counted from 1." }),
  endLine: lineNumber.meta({ description: "With `lines=`: the last line in `content`." }),
  totalLines: lineNumber.meta({ description: "With `lines=`: the number of lines of the whole version." }),
}).meta({ id: "ReadRecord" });
export type ReadRecord = Wire<typeof readRecord>;

const replacements = version;
export const editRecord = fileRecord.extend({ replacements }).meta({ id: "EditRecord" });

/** A unified diff, and the numbers of lines that it adds and removes. */
const changedLines = { diff: z.string(), additions: count, deletions: count };

export const editPreview = editRecord.extend({ dryRun: z.literal(true), ...changedLines })
  .meta({ id: "EditPreview" });

export const editAnswer = z.union([editRecord, editPreview]);

export const diffRecord = z.object({
  from: count.meta({ description: "0: the empty file before the first version." }),
  to: version,
  ...changedLines,
  diff: changedLines.diff.meta({ description: "Unified; empty where nothing changed." }),
}).meta({ id: "Diff" });
export type DiffRecord = Wire<typeof diffRecord>;

export const fileList = z.object({
  files: z.array(listedFile),
  directories: z.array(z.string()).optional()
    .meta({ description: "When not recursive: names of the sub-folders, at most 1000." }),
  total: z.int().nullable().optional().meta({
    description: `Counted up to ${LIST_TOTAL_MAX}. Null with \`after\`; left out with \`at\`.`,
  }),
  totalIsExact: z.literal(false).optional().meta({
    description: "False: counting stopped, and there are more files than `total`.",
  }),
  limit: z.int(),
  offset: z.int(),
  hasMore: z.boolean(),
  next: z.string().optional().meta({
    description:
      "With `at`, if `hasMore`: send it as `after` of the next page. A page may have fewer files than `limit`.",
  }),
  hasMoreDirectories: z.literal(true).optional().meta({
    description: "With `at`: there may be more sub-folders; a recursive list finds their files.",
  }),
  trimmed: z.array(z.string()).optional().meta({
    description: "With `at`: files of this page whose version at that moment was erased.",
  }),
}).meta({ id: "FileList" });
export type FileList = Wire<typeof fileList>;

export const changedFile = listedFile.extend({
  replacements: replacements.optional().meta({ description: "Only for an edit." }),
});

export const batchResults = z.object({ results: z.array(changedFile) })
  .meta({ id: "BatchResults", description: "The record of the file after each operation, in their order." });
export type BatchResults = Wire<typeof batchResults>;

const fileVersion = z.object({ path: z.string(), version });

export const folderResult = z.object({
  count: z.int(),
  files: z.array(fileVersion),
  trimmed: z.array(z.string()).optional().meta({
    description: "With `at`: files that were left out, because their version at that moment was erased.",
  }),
}).meta({ id: "FolderCommit" });
export type FolderResult = Wire<typeof folderResult>;

/** The file that a purge erased, and the numbers of its versions and bytes. */
export const purged = z.object({
  path: z.string(),
  versions: version.meta({ description: "The number of versions that the file had." }),
  bytes: count.meta({
    description:
      "Stored bytes that the purge releases from the quota immediately; the sweep releases those of `pendingVersions`.",
  }),
  pendingVersions: count.meta({
    description:
      "The number of versions that are already unreadable, and whose rows and bytes the next sweeps remove.",
  }),
  copies: z.array(z.string()).optional().meta({
    description:
      `Files that branches have copied from it, at most ${CONFLICTING_PATHS_SHOWN_MAX}. Absent: none.`,
  }),
}).meta({ id: "Purge" });
export type Purged = Wire<typeof purged>;

export const redacted = z.object({
  path: z.string(),
  versions: z.array(version),
  remaining: z.array(fileVersion).meta({
    description:
      `Versions that can still be read and use a segment of an erased version, at most ${REDACT_REMAINING_MAX}: ` +
      "other versions of the file, and copies. They may contain the same text.",
  }),
}).meta({ id: "Redaction" });
export type Redacted = Wire<typeof redacted>;
