/**
 * GET /runs, GET /runs/{runId} and POST /runs/{runId}/undo: the changes of clients under one `X-Run-Id`. POST /restore,
 * which answers like an undo, restores a folder to its state at a moment.
 */
import { z } from "zod";
import type { Context } from "../context.ts";
import { cursor } from "../contract/values.ts";
import { failField } from "../errors.ts";
import { commitRevert, planRevert } from "../files/commit_many.ts";
import { isBodyAbsent } from "../http/body.ts";
import { idempotencyKey } from "../http/conditions.ts";
import { readFields } from "../http/json_request.ts";
import { checkPath, normalizeDirectory } from "../http/path.ts";
import { parseRunId } from "../http/provenance.ts";
import type { Success } from "../http/respond.ts";
import { validateQuery } from "../http/validate.ts";
import { COMMIT_FILES_MAX, PROJECT_KEYS_MAX, RUN_FILES_MAX, RUN_FILES_PER_REQUEST } from "../limits.ts";
import { defineRoute } from "../route.ts";
import { counted } from "../runtime/counted.ts";
import { moment, pageLimit, wholeNumber } from "./schemas.ts";

const page = z.object({
  limit: pageLimit,
  after: cursor.optional().meta({ description: "`cursor` of the previous page." }),
});

export const listRuns = defineRoute({
  operation: "list_runs",
  allows: { read: "follow changes and runs" },
  parse: ({ query }) => validateQuery(page, query),
  async handle({ gate, metadata }, { limit, after }) {
    const found = gate.unwrap(await metadata.runs(gate.caller, limit, after));
    return { data: found, message: `${counted(found.runs.length, "run")}.` };
  },
  openapi: {
    summary: "List runs, the newest first",
    description:
      "A run is the set of versions with one `X-Run-Id` that the key can see. A page may have fewer runs than `limit`, " +
      "or none, although `hasMore` is true: if runs have very many versions, or the key can see none of them.",
    query: page,
    answer: "runPage",
  },
});

const files = z.object({
  limit: wholeNumber(1, RUN_FILES_MAX).default(RUN_FILES_MAX),
  after: z.uuid().optional().meta({ description: "`fileId` of the last file of the previous page." }),
});

export const getRun = defineRoute({
  operation: "get_run",
  allows: { read: "follow changes and runs" },
  parse: ({ params, query }) => ({ runId: parseRunId(params.id), ...validateQuery(files, query) }),
  async handle(context, { runId, limit, after }) {
    const { gate, metadata } = context;
    context.onEnd(await context.beginCostly());
    const found = gate.unwrap(await metadata.run(gate.caller, runId, limit, after));
    gate.addWork(found.files.length / RUN_FILES_PER_REQUEST);
    return { data: found, message: `${counted(found.fileCount, "file")}.` };
  },
  openapi: {
    summary: "Return one run, with its files in the order of their ids",
    query: files,
    answer: "runDetails",
    errors: ["RUN_NOT_FOUND"],
  },
});

const dryRun = z.boolean().nullish().meta({
  default: true,
  description: "By default **true**: returns the plan and changes nothing.",
});

const undoBody = z.object({
  dryRun,
  onConflict: z.enum(["refuse", "skip", "overwrite"]).nullish().meta({
    default: "refuse",
    description: "What to do with files that others have changed since.",
  }),
  paths: z.array(z.string()).min(1).max(COMMIT_FILES_MAX).nullish().meta({
    description: "Only these files of the run.",
  }),
  keys: z.union([z.literal("own"), z.array(z.uuid()).min(1).max(PROJECT_KEYS_MAX)], {
    error: `must be "own" or a list of 1 to ${PROJECT_KEYS_MAX} ids of keys`,
  }).nullish().meta({
    description:
      "Only versions that the calling key wrote (`own`; for a person: the console), or that these keys wrote. Versions of " +
      "other keys with the same run id then count as changes by others. Absent: all versions with the run id.",
  }),
});

const restoreBody = z.object({
  directory: z.string().meta({
    description: "Leading and trailing slashes are tolerated; `/` is the project.",
  }),
  at: moment.meta({
    type: "string",
    description: "An ISO 8601 time (inclusive), or a cursor of the change feed.",
  }),
  dryRun,
});

const REVERT_ERRORS = ["INVALID_PATH", "VERSION_CONFLICT", "TOO_MANY_FILES", "QUOTA_EXCEEDED"] as const;

/** A dry run, unless `dryRun` is false. */
async function planOrCommit(
  context: Context,
  key: string | undefined,
  change: Parameters<typeof planRevert>[1],
  dryRun: boolean | null | undefined,
): Promise<Success> {
  const isPlan = dryRun ?? true;
  context.onEnd(await context.beginCostly());
  const { value, isReplayed } = isPlan
    ? { value: await planRevert(context, change), isReplayed: false }
    : await commitRevert(context, key, change);
  const done = isPlan ? "would be changed" : "changed";
  const conflicts = counted(value.conflicts.length, "conflict");
  const message = `${counted(value.actions.length, "file")} ${done}; ${conflicts}.`;
  return { data: value, message, isReplayed };
}

export const undoRun = defineRoute({
  operation: "undo_run",
  allows: { write: "undo runs" },
  makesVersions: true,
  parse({ params, headers }) {
    const run = parseRunId(params.id);
    if (headers.get("X-Run-Id") === run) failField("X-Run-Id", "must not be the run that is undone");
    return { run, key: idempotencyKey(headers) };
  },
  async handle(context, { run, key }) {
    const isAbsent = isBodyAbsent(context.request.headers);
    const fields: z.infer<typeof undoBody> = isAbsent ? {} : await readFields(context, undoBody);
    const undo = {
      kind: "undo",
      run,
      onConflict: fields.onConflict ?? "refuse",
      keys: fields.keys ?? undefined,
      paths: fields.paths?.map(checkPath),
    } as const;
    return await planOrCommit(context, key, undo, fields.dryRun);
  },
  openapi: {
    summary: "Undo the changes of a run",
    description:
      "Restores each file of the run to its state before the run's first version of it. Only returns a plan unless " +
      "`dryRun` is false. A file that others have changed since is a conflict. The undo is itself a run: undo it to redo. " +
      "Any key can use any run id: `own` tells whether the calling key wrote a file's versions, and `keys` selects keys.",
    body: undoBody,
    isBodyOptional: true,
    headers: ["Idempotency-Key"],
    answer: "undoResult",
    errors: ["RUN_NOT_FOUND", "RUN_CONFLICT", ...REVERT_ERRORS],
    example: { dryRun: true },
  },
});

export const restoreFolder = defineRoute({
  operation: "restore_folder",
  allows: { write: "restore earlier versions" },
  makesVersions: true,
  parse: ({ headers }) => ({ key: idempotencyKey(headers) }),
  async handle(context, { key }) {
    const fields = await readFields(context, restoreBody);
    const directory = normalizeDirectory(fields.directory);
    const restore = { kind: "restore_folder", directory, at: fields.at } as const;
    return await planOrCommit(context, key, restore, fields.dryRun);
  },
  openapi: {
    summary: "Restore a folder to its state at a moment",
    description:
      "Only returns a plan unless `dryRun` is false. There are no conflicts: later versions stay readable.",
    body: restoreBody,
    headers: ["Idempotency-Key"],
    answer: "undoResult",
    errors: REVERT_ERRORS,
    example: { directory: "notes", at: "2026-11-20T09:30:00.000Z" },
  },
});
