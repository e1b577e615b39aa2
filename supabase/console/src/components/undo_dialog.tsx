/** Undoes a run. It first shows the effect on each file and the later changes by others. */
import { useState } from "preact/hooks";
import { type HowToUndo, type OnConflict, planUndo, undoRun } from "../api/runs.ts";
import { FormDialog, FormProblem, SelectField, useSubmit } from "./form.tsx";
import { UndoPlan } from "./undo_plan.tsx";
import { Pending } from "./states.tsx";
import { formatCount, shortenId } from "../format.ts";
import { announceChange } from "../state/changes.ts";
import { notify } from "../state/notices.ts";
import { goTo } from "../state/router.ts";
import { useLoad } from "../state/use_load.ts";

/** A writer whose part of a run can be undone separately. */
export interface Writer {
  readonly name: string;
  readonly keys: NonNullable<HowToUndo["keys"]>;
}

interface Properties {
  readonly projectId: string;
  readonly runId: string;
  /** What is undone, if it is not called by its id: `the undo of nightly-42`. */
  readonly title?: string | undefined;
  readonly writers: readonly Writer[];
  readonly onClose: () => void;
}

export function UndoDialog(
  { projectId, runId, title = `run ${shortenId(runId)}`, writers, onClose }: Properties,
) {
  const [onConflict, setOnConflict] = useState<OnConflict>("skip");
  /** The index in `writers` of the one whose part is undone. */
  const [writer, setWriter] = useState<number>();
  const how = { onConflict, keys: writer === undefined ? undefined : writers[writer]?.keys };
  const key = `undo ${projectId} ${runId} ${JSON.stringify(how)}`;
  const plan = useLoad(key, (signal) => planUndo(projectId, runId, how, signal));
  const { data } = plan;
  const { isBusy, error, submit } = useSubmit(async () => {
    const hasConflicts = data !== undefined && data.conflicts.length > 0;
    // Without a conflict in the plan, the person was not asked, so a conflict since then must refuse the undo.
    const asShown = { ...how, onConflict: hasConflicts ? onConflict : "refuse" } as const;
    const done = await undoRun(projectId, runId, asShown).catch((failure) => {
      plan.reload();
      throw failure;
    });
    announceChange({});
    onClose();
    notify(`Undone: ${formatCount(done.actions.length, "file")}.`);
    if (done.runId !== null && done.actions.length > 0) goTo({ name: "run", projectId, runId: done.runId });
  });
  const hasNothingToDo = data === undefined || data.actions.length === 0;
  return (
    <FormDialog
      title={`Undo ${title}?`}
      action="Undo the run"
      isBusy={isBusy || hasNothingToDo}
      {...{ submit, onClose }}
    >
      {writers.length > 1 && (
        <SelectField
          label="Written with"
          value={String(writer ?? "")}
          onChange={(value) => setWriter(value === "" ? undefined : Number(value))}
          options={[["", "any key"], ...writers.map(({ name }, index) => [String(index), name] as const)]}
        />
      )}
      {data === undefined ? <Pending {...plan} what="the plan" /> : <UndoPlan plan={data} />}
      {data !== undefined && data.conflicts.length > 0 && (
        <SelectField
          label="These files"
          value={onConflict}
          onChange={(value) => setOnConflict(value === "overwrite" ? "overwrite" : "skip")}
          options={[
            ["skip", "stay as they are; undo the others"],
            ["overwrite", "revert anyway; others' changes stay in history"],
          ]}
        />
      )}
      <p class="hint">
        Each file gets a new version. The undo is a run of its own, so you can undo it, too.
      </p>
      <FormProblem error={error} fields={[]} />
    </FormDialog>
  );
}
