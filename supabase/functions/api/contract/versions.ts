/** Versions: those of a file, and those of a project in the order of its change feed. */
import { z } from "zod";
import { count, cursor, time, version, type Wire } from "./values.ts";

export const versionOperation = z.enum([
  "write",
  "append",
  "overwrite",
  "edit",
  "delete",
  "restore",
  "copy",
  "move",
  "undo",
  "purge",
  "merge",
]);
export type VersionOperation = z.infer<typeof versionOperation>;

/** A person, as people in the project see them. */
export const person = z.object({ id: z.uuid(), email: z.string() });
export type Person = Wire<typeof person>;

/** The provenance of a version: its operation, and the fields that the client sent. */
export const versionOrigin = z.object({
  operation: versionOperation.meta({ description: "The operation that added the version." }),
  runId: z.string().optional().meta({ description: "`X-Run-Id` of the request." }),
  actor: z.string().optional().meta({ description: "`X-Actor` of the request." }),
  note: z.string().optional().meta({ description: "`X-Change-Note` of the request, decoded." }),
  from: z.object({ path: z.string(), version }).optional().meta({
    description:
      "For a copy, move, restore or merge: the source of the content, if the key can see its path.",
  }),
  keyId: z.uuid().optional().meta({
    description:
      "For the owner, and keys with the scope `admin`: the key that wrote the version; absent for the console.",
  }),
  account: person.optional().meta({
    description: "For people in the project, never for keys: the person who wrote the version.",
  }),
});

const deleted = z.literal(true).optional().meta({ description: "A tombstone: the file was deleted." });

/** One page of the versions of a file, the newest first. */
export const versionList = z.object({
  file: z.object({ path: z.string(), mimeType: z.string() }),
  versions: z.array(z.object({
    version,
    size: count,
    createdAt: time,
    updatedAt: time,
    deleted,
    redactedAt: time.optional().meta({ description: "When its content was erased for good." }),
    cursor: cursor.meta({ description: "The cursor of the version in the change feed." }),
    ...versionOrigin.shape,
  })),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
}).meta({ id: "VersionList" });
export type VersionList = Wire<typeof versionList>;
export type Version = VersionList["versions"][number];

const change = z.object({
  cursor,
  path: z.string().optional().meta({ description: "Absent: the file was purged." }),
  fileId: z.uuid(),
  version,
  size: count,
  mimeType: z.string(),
  deleted,
  commitId: z.uuid().meta({ description: "All versions of one commit have the same id." }),
  ...versionOrigin.shape,
  createdAt: time,
  fileCreatedAt: time.optional().meta({
    description: "When the file was created. Absent: the file was purged.",
  }),
}).meta({ id: "Change" });
export type Change = Wire<typeof change>;

export const changePage = z.object({
  changes: z.array(change),
  cursor: cursor.meta({
    description: "Send it as `after` of the next page, or as `before` if this request had `before`.",
  }),
  hasMore: z.boolean(),
}).meta({ id: "ChangePage" });
export type ChangePage = Wire<typeof changePage>;

/** The latest writes of a project, the newest first. */
export const activity = z.object({
  activity: z.array(z.object({
    fileId: z.uuid(),
    path: z.string(),
    version: z.int(),
    size: z.int(),
    mimeType: z.string(),
    deleted: z.literal(true).optional(),
    ...versionOrigin.shape,
    createdAt: time,
    keyId: z.uuid().nullable().meta({ description: "Null: written in the console." }),
  })),
}).meta({ id: "Activity" });
