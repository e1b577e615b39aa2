import { z } from "zod";
import { RUN_ID_RULE } from "../../contract/values.ts";
import { ApiError } from "../../errors.ts";
import { commitRevert, planRevert } from "../../files/commit_many.ts";
import { isRunId } from "../../http/provenance.ts";
import type { UndoResult } from "../../contract/runs.ts";
import { text } from "../arguments.ts";
import { ToolRefusal } from "../failures.ts";
import { describeProvenance, Lines, shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
import { defineTool } from "../tool.ts";

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
    if (isPlan) return describe(await planRevert(context, undo), run);
    // The undo is a run of its own, even where the request names the run that it undoes.
    if (gate.provenance?.runId === run) gate.provenance = { ...gate.provenance, runId: undefined };
    try {
      return describe((await commitRevert(context, undefined, undo)).value, run);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "RUN_CONFLICT") throw error;
      const plan = await planRevert(context, undo);
      const conflicts = `Others have changed files of the run since. ${conflictsOf(plan)}`;
      throw new ToolRefusal("RUN_CONFLICT", conflicts);
    }
  },
});

type Action = UndoResult["actions"][number];

function describe(answer: UndoResult, run: string): string {
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
function describeAction({ path, action, from, to, version, own }: Action): string {
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
