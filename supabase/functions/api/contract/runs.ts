/** Runs: the versions that were written under one `X-Run-Id`, and the results of an undo or a restore. */
import { z } from "zod";
import {
  RUN_ACTORS_MAX,
  RUN_VERSIONS_COUNTED_MAX,
  RUN_VERSIONS_NAMED_MAX,
  UNDO_VERSIONS_EXAMINED_MAX,
} from "./limits.ts";
import { cursor, runId, time, version, type Wire } from "./values.ts";
import { person, versionOperation } from "./versions.ts";

/** The part of a run that the key sees. */
const run = z.object({
  runId,
  actors: z.array(z.string()).meta({ description: `At most ${RUN_ACTORS_MAX}.` }),
  accounts: z.array(person).optional().meta({
    description:
      "For people in the project, never for keys: the people who wrote in the run, in the console or by an app, as far " +
      `as the first ${RUN_VERSIONS_NAMED_MAX} versions by each key and without a key tell.`,
  }),
  fileCount: version,
  versionCount: version,
  firstAt: time,
  lastAt: time,
  countsAreExact: z.boolean().optional().meta({
    description:
      `\`false\` if the run has more than ${RUN_VERSIONS_COUNTED_MAX} versions: the counts are minimums, and times and ` +
      "actors are those of the versions that were read. Absent: the counts are exact.",
  }),
  undoneRunId: z.string().optional().meta({ description: "The run that this run undoes." }),
  undoneBy: z.array(z.string()).optional().meta({
    description: "The undos of this run that have not been undone themselves.",
  }),
}).meta({ id: "Run" });
export type Run = Wire<typeof run>;

export const runPage = z.object({ runs: z.array(run), cursor, hasMore: z.boolean() }).meta({ id: "RunPage" });
export type RunPage = Wire<typeof runPage>;

const OWN = {
  description:
    "Whether the calling key wrote all of the run's versions of the file; for a person: whether the console did.",
};
const keyIds = z.array(z.uuid()).optional().meta({
  description:
    "The keys that wrote these versions, for the owner and keys with `admin`. The console has no key.",
});

/** A run with its files, in the order of their ids. */
export const runDetails = run.extend({
  files: z.array(z.object({
    path: z.string(),
    fileId: z.uuid(),
    firstVersion: version.meta({ description: "The run's first version of the file." }),
    lastVersion: version.meta({ description: "Its last one." }),
    operation: versionOperation.meta({ description: "What made the last one." }),
    own: z.boolean().meta(OWN),
    keyIds,
  })),
  hasMore: z.boolean(),
}).meta({ id: "RunDetails" });
export type RunDetails = Wire<typeof runDetails>;
export type RunFile = RunDetails["files"][number];

/** The step of an undo or a restore for each file. */
export const undoResult = z.object({
  runId: z.string().nullable().meta({
    description: "The run of this undo or restore: undo that run to redo. Null in a plan.",
  }),
  undoneRunId: z.string().nullable(),
  actions: z.array(z.object({
    path: z.string(),
    action: z.enum(["restore", "delete"]),
    from: z.int().meta({ description: "The current version." }),
    to: z.int().nullable().meta({
      description: "The version whose content is restored; null: none, or a tombstone.",
    }),
    version: z.int().optional().meta({ description: "The new version; not in a plan." }),
    own: z.boolean().optional().meta(OWN),
    keyIds,
  })),
  unchanged: z.array(z.string()).meta({ description: "Files that already have the content to restore." }),
  conflicts: z.array(z.object({
    path: z.string(),
    version: z.int(),
    actor: z.string().nullable(),
    runId: z.string().nullable(),
    own: z.boolean().optional().meta({ description: "Whether the calling key wrote that version." }),
    keyId: z.uuid().optional().meta({ description: "For the owner, and keys with `admin`." }),
    reason: z.enum(["gone", "moved", "unexamined"]).optional().meta({
      description:
        "`gone`: the content to restore was erased. `moved`: the other file of the move is not among the files to " +
        `undo. \`unexamined\`: this file and those before it have more than ${UNDO_VERSIONS_EXAMINED_MAX} versions, ` +
        "so its versions were not examined for changes by others. Absent: others wrote the version.",
    }),
  })),
  trimmed: z.array(z.string()).optional().meta({
    description: "Files that stay as they are, because their version at that moment was erased.",
  }),
}).meta({ id: "UndoResult" });
export type UndoResult = Wire<typeof undoResult>;
