import { z } from "zod";
import type { Context } from "../../context.ts";
import type { RunDetails, UndoResult } from "../../contract/runs.ts";
import { RUN_ID_RULE } from "../../contract/run_id.ts";
import type { Change } from "../../contract/versions.ts";
import { ApiError } from "../../errors.ts";
import { commitRevert, planRevert } from "../../files/commit_many.ts";
import { isRunId } from "../../http/provenance.ts";
import { CHANGES_EXAMINED_MAX, MCP_CHANGES_DEFAULT, PAGE_LIMIT_MAX } from "../../limits.ts";
import type { FeedPage } from "../../ports/files.ts";
import { counted, grouped } from "../../runtime/counted.ts";
import { folder, text, whole } from "../arguments.ts";
import { ToolRefusal } from "../failures.ts";
import { describeOrigin, describeProvenance, Lines, shortTime, shownActor, shownPath } from "../text.ts";
import { defineTool } from "../tool.ts";

/** An argument that may be absent or empty. */
const optional = (description: string, isValid: (given: string) => boolean, reason: string) =>
  text(description).refine((given) => given === "" || isValid(given), reason).optional()
    .transform((given) => given === "" ? undefined : given);

export const recentChanges = defineTool({
  name: "recent_changes",
  title: "Recent changes",
  description:
    "Lists recent changes by people and agents: time, operation, version, author and run. Its last line has the value " +
    "of since for the next call. run shows the changes of one run.",
  scopes: ["read"],
  effect: "reads",
  input: z.object({
    since: optional(
      "Only later changes: the 32 digits that an earlier result ended with.",
      (given) => /^[0-9a-f]{32}$/.test(given),
      "must be the 32 digits of an earlier result",
    ),
    run: optional("Only changes of this run, such as nightly-42.", isRunId, RUN_ID_RULE),
    path: folder("Only this file, or files below this folder; empty for all."),
    limit: whole("How many changes to show.", 1, PAGE_LIMIT_MAX).default(MCP_CHANGES_DEFAULT),
  }),
  async run(context, { since, run, path, limit }) {
    const { gate, metadata } = context;
    if (run !== undefined && since === undefined && path === "") {
      return await describeRun(context, run, limit);
    }
    const page = gate.unwrap(
      await metadata.changes(gate.caller, {
        after: since,
        limit,
        run,
        place: path === "" ? undefined : path,
        newestFirst: since === undefined ? true : undefined,
      }),
    );
    return describePage(page, since !== undefined, run !== undefined || path !== "");
  },
});

/** The last changes, or those since a cursor, in their order. */
function describePage({ changes, cursor, hasMore }: FeedPage, isSince: boolean, isFiltered: boolean): string {
  const lines = new Lines(500);
  // Where not all fit, the newest are shown; changes since a cursor are shown in order, and the next call continues.
  const all = (isSince ? changes : changes.toReversed()).map(describeChange);
  const left = lines.addAll(all);
  const shown = all.slice(0, all.length - left);
  const next = isSince && left > 0 ? changes[shown.length - 1]?.cursor ?? cursor : cursor;
  const isMore = hasMore || left > 0;
  const bound = isFiltered ? ` At most the last ${grouped(CHANGES_EXAMINED_MAX)} changes were examined.` : "";
  if (isSince) {
    const head = shown.length === 0
      ? isMore ? "No match so far; more changes follow." : "Nothing has changed since."
      : `${counted(shown.length, "change")} since, in their order`;
    return [head, ...shown, `${isMore ? "more changes" : "later changes"}: since=${next}`].join("\n");
  }
  const head = shown.length === 0
    ? `Nothing was changed.${bound}`
    : `${isMore ? "The last " : ""}${counted(shown.length, "change")}, oldest first.${bound}`;
  return [head, ...shown.toReversed(), `later changes: since=${next}`].join("\n");
}

/** `2026-11-20T10:15:30Z edit notes/plan.md — version 7 by planner/2.1 in run nightly-42`. */
function describeChange(
  { createdAt, operation, path, version, deleted, from, ...provenance }: Change,
): string {
  const what = deleted ? `deleted, version ${version}` : `version ${version}`;
  const name = path === undefined ? "(a purged file)" : shownPath(path);
  const how = describeOrigin(from, path) + describeProvenance(provenance);
  return `${shortTime(createdAt)} ${operation} ${name} — ${what}${how}`;
}

async function describeRun({ gate, metadata }: Context, run: string, limit: number): Promise<string> {
  const { files, hasMore, ...summary }: RunDetails = gate.unwrap(await metadata.run(gate.caller, run, limit));
  const { fileCount, versionCount, actors, firstAt, lastAt, countsAreExact = true } = summary;
  const least = countsAreExact ? "" : "at least ";
  const who = actors.length === 0 ? "" : ` by ${actors.map(shownActor).join(", ")}`;
  const lines = new Lines(who.length + 400);
  lines.addAll(files.map(({ path, firstVersion, lastVersion, operation }) => {
    const isOne = firstVersion === lastVersion;
    const versions = isOne ? `version ${lastVersion}` : `versions ${firstVersion}–${lastVersion}`;
    return `${shownPath(path)} — ${versions}, last ${operation}`;
  }));
  const left = fileCount - lines.count;
  const isFull = hasMore && lines.count === files.length && limit < PAGE_LIMIT_MAX;
  const advice = isFull ? `raise limit (up to ${PAGE_LIMIT_MAX})` : "set path to see only those of a folder";
  const more = left === 0 ? "" : `\n${counted(left, "more file")}: ${advice}`;
  return `run ${run} — ${least}${counted(fileCount, "file")}, ${counted(versionCount, "version")}${who}, ` +
    `${shortTime(firstAt)} to ${shortTime(lastAt)}\n${lines}${more}`;
}

export const undoRun = defineTool({
  name: "undo_run",
  title: "Undo a run",
  description:
    "Undoes a run: restores each of its files to its state before the run. With dry_run=true, the default, it only " +
    "lists what would change: check that, then call it again with dry_run=false. No version is lost. recent_changes " +
    "shows the runs.",
  scopes: ["write"],
  effect: "replaces",
  input: z.object({
    run: text("The run, such as nightly-42.", 1).refine(isRunId, RUN_ID_RULE),
    dry_run: z.boolean("must be true or false").default(true).meta({
      description: "Only list what would change.",
    }),
  }),
  async run(context, { run, dry_run: isPlan }) {
    const { gate } = context;
    context.onEnd(await context.beginCostly());
    const undo = { kind: "undo", run, onConflict: "refuse" } as const;
    if (isPlan) return describeUndo(await planRevert(context, undo), run);
    // The undo is a run of its own, even where the request names the run that it undoes.
    if (gate.provenance?.runId === run) gate.provenance = { ...gate.provenance, runId: undefined };
    try {
      return describeUndo((await commitRevert(context, undefined, undo)).value, run);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "RUN_CONFLICT") throw error;
      const plan = await planRevert(context, undo);
      const conflicts = `Others have changed files of the run since. ${conflictsOf(plan)}`;
      throw new ToolRefusal("RUN_CONFLICT", conflicts);
    }
  },
});

function describeUndo(answer: UndoResult, run: string): string {
  const { runId, actions, unchanged, conflicts } = answer;
  const isPlan = runId === null;
  if (conflicts.length > 0) return `Undoing run ${run} is not possible yet. ${conflictsOf(answer)}`;
  if (actions.length === 0) {
    const files = `${counted(unchanged.length, "file")} of run ${run} ${
      unchanged.length === 1 ? "is" : "are"
    }`;
    return `Nothing is left to undo: ${files} already as before the run.`;
  }
  const lines = new Lines(400);
  const left = lines.addAll(actions.map(describeAction));
  const more = left === 0 ? "" : `\n… and ${counted(left, "more file")}`;
  const same = unchanged.length === 0
    ? ""
    : `\n${counted(unchanged.length, "other file")} already had the content from before the run`;
  const [head, next] = isPlan
    ? [`Undoing run ${run} would change ${counted(actions.length, "file")}:`, "To do it: dry_run=false"]
    : [`Undid run ${run}, as run ${runId}:`, `To undo that: undo_run with run=${runId}`];
  return `${head}\n${lines}${more}${same}\n${next}`;
}

/** `notes/plan.md — restored to version 2, from version 4`. */
function describeAction({ path, action, from, to, version, own }: UndoResult["actions"][number]): string {
  const added = version === undefined ? "" : `, as version ${version}`;
  const whose = own === false ? "; another key or a person wrote to it in this run" : "";
  if (action === "delete") return `${shownPath(path)} — deleted${added}: the run created it${whose}`;
  return `${shownPath(path)} — restored to version ${to}, from version ${from}${added}${whose}`;
}

/** Why the version that `conflicts` names is in the way of the undo, where it is not a later one. */
const CONFLICTS = {
  gone: "its version before the run was erased",
  moved: "the run moved it from or to a path that your key cannot access",
  unexamined: "it has too many versions to tell whether others wrote some of them",
};

function conflictsOf({ conflicts }: UndoResult): string {
  const lines = new Lines(600);
  lines.addAll(conflicts.map(({ path, version, actor, runId, reason }) => {
    const author = describeProvenance({ actor: actor ?? undefined, runId: runId ?? undefined });
    const why = reason ? CONFLICTS[reason] : `version ${version}${author} came after`;
    return `${shownPath(path)} — ${why}`;
  }));
  return "Nothing was done. Compare them with diff_versions, and restore files one by one with restore_file:\n" +
    `${lines}`;
}
