/** What a run is called: by the id that an agent chose, or as the undo of another run. */
import type { Run } from "../../api/runs.ts";
import { shortenId } from "../../format.ts";
import { hrefOf } from "../../state/router.ts";

type Named = Pick<Run, "runId" | "undoneRunId">;

/** `nightly-42`, `Undo of nightly-42`. */
export function runName({ runId, undoneRunId }: Named): string {
  return undoneRunId === undefined ? shortenId(runId) : `Undo of ${shortenId(undoneRunId)}`;
}

/** `Run nightly-42`, `Undo of nightly-42`. */
export function runHeading(run: Named): string {
  return run.undoneRunId === undefined ? `Run ${runName(run)}` : runName(run);
}

interface StateProperties {
  readonly run: Pick<Run, "undoneBy">;
}

/** Whether the changes of the run are in effect. */
export function RunState({ run: { undoneBy } }: StateProperties) {
  return undoneBy === undefined ? <span class="tag active">applied</span> : <span class="tag">undone</span>;
}

export function RunLink({ projectId, run }: { readonly projectId: string; readonly run: Named }) {
  const { runId } = run;
  return <a title={runId} href={hrefOf({ name: "run", projectId, runId })}>{runName(run)}</a>;
}
