/** Branches: folders below `.branches/` that know of each file from which version it was taken. */
import { z } from "zod";
import { count, cursor, time, version, type Wire } from "./values.ts";
import { BRANCH_NAME_LENGTH_MAX } from "./limits.ts";

export const BRANCH_NAME_SHAPE = new RegExp(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,${BRANCH_NAME_LENGTH_MAX - 1}}$`);

export const branchName = z.string().regex(
  BRANCH_NAME_SHAPE,
  `must be 1 to ${BRANCH_NAME_LENGTH_MAX} of A-Z, a-z, 0-9, dot, underscore and hyphen, and not begin with a dot`,
);

export const branchState = z.enum(["open", "ready", "merged", "closed"]);

/** Who created or merged a branch, with a key or in the console. */
const author = z.object({
  keyName: z.string().optional(),
  account: z.string().optional().meta({
    description: "The account of the person, if it was in the console.",
  }),
  email: z.string().optional().meta({
    description: "For people in the project, never for keys: the address of this account.",
  }),
});

export const branch = z.object({
  name: z.string(),
  path: z.string().meta({ description: "The folder of its files, `.branches/{name}`." }),
  directory: z.string().meta({ description: "The folder that it is a copy of; empty: the root." }),
  title: z.string().nullable(),
  note: z.string().nullable().meta({ description: "The last note of a change of its state." }),
  state: branchState.meta({ description: "`ready`: waits for a person, but still takes writes." }),
  fileCount: count.meta({ description: "Files that were copied." }),
  base: cursor.meta({ description: "The position at which they were copied, or last updated." }),
  createdBy: author,
  mergedBy: author.optional().meta({ description: "Absent: it was not merged." }),
  createdAt: time,
  updatedAt: time,
  expiresAt: time.meta({ description: "When it is closed." }),
}).meta({ id: "Branch" });
export type Branch = Wire<typeof branch>;

export const branchPage = z.object({ branches: z.array(branch), cursor, hasMore: z.boolean() })
  .meta({ id: "BranchPage" });
export type BranchPage = Wire<typeof branchPage>;

const side = version.nullable();

/** A file that differs from its base. Paths are relative to the branch. */
const branchChange = z.object({
  path: z.string(),
  change: z.enum(["added", "modified", "deleted"]),
  base: side.meta({ description: "The version that it was copied from, or last merged with; null: none." }),
  branch: side.meta({ description: "Its version in the branch; null: deleted." }),
  current: side.meta({
    description: "The version in the branch's folder; null: none, or not visible to the key.",
  }),
  conflict: z.boolean().optional().meta({
    description: "Whether a merge would leave a conflict. Absent for a key that is confined to the branch.",
  }),
});

export const branchDetails = branch.extend({
  changes: z.array(branchChange),
  hasMore: z.boolean(),
  counts: z.object({ added: count, modified: count, deleted: count, conflicts: count }),
}).meta({ id: "BranchDetails" });
export type BranchDetails = Wire<typeof branchDetails>;

export const mergeConflict = z.object({
  path: z.string(),
  kind: z.enum(["content", "binary", "deletedInBranch", "deletedInTarget", "baseGone"]),
  base: side,
  branch: side,
  current: side,
});

/** The step of a merge or an update for each file. */
export const mergeResult = z.object({
  actions: z.array(z.object({
    path: z.string(),
    action: z.enum(["write", "delete", "merge"]),
    from: side.meta({ description: "The version of the file that is written; null: there is none." }),
    to: side.meta({ description: "The version on the other side; null: deleted." }),
    version: version.optional().meta({ description: "The new version; not in a plan." }),
  })),
  conflicts: z.array(mergeConflict),
  runId: z.string().nullable().meta({
    description: "The run of this merge: undo it to take all of it back.",
  }),
}).meta({ id: "MergeResult" });
export type MergeResult = Wire<typeof mergeResult>;
