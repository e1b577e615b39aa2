/** Runs, newest first. A run is everything written under one `X-Run-Id`. */
import { listRuns, type Run } from "../../api/runs.ts";
import { Age, ListTable, moveInList, RowLink } from "../../components/list.tsx";
import { Icon } from "../../components/icon.tsx";
import { Empty, Pending } from "../../components/states.tsx";
import { formatNumber, visible } from "../../format.ts";
import { personName } from "../../state/keys.ts";
import { useLive } from "../../state/live.ts";
import { usePacedCall } from "../../state/paced.ts";
import { goTo, hrefOf, type RunsPlace } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { runName, RunState } from "./run_name.tsx";

export function RunsView({ place }: { readonly place: RunsPlace }) {
  const { projectId, after } = place;
  const key = `runs ${projectId} ${after}`;
  const { data, error, reload } = useLoad(key, (signal) => listRuns(projectId, after, signal));
  const refresh = usePacedCall(projectId, reload);
  useLive(projectId, (changes) => {
    if (after === undefined && (changes === null || changes.some(({ runId }) => runId !== undefined))) {
      refresh();
    }
  });
  return (
    <section class="view" aria-labelledby="runs-title">
      <div class="view-head">
        <h1 id="runs-title">Runs</h1>
        <button type="button" onClick={reload}>
          <Icon name="rotate" />Refresh
        </button>
      </div>
      {data === undefined
        ? <Pending {...{ error, reload }} what="the runs" />
        : data.runs.length === 0 && !data.hasMore
        ? (
          <Empty
            icon="run"
            title={after === undefined ? "There are no runs yet." : "There are no older runs."}
          >
            <p>
              An agent that sends the header <code>X-Run-Id</code>{" "}
              groups its writes into a run, which you can undo as a whole.
            </p>
            <p>
              <a href={hrefOf({ name: "connect", projectId })}>Connect an agent</a>
            </p>
          </Empty>
        )
        : <Table projectId={projectId} runs={data.runs} />}
      {data?.hasMore && (
        <button type="button" onClick={() => goTo({ ...place, after: data.cursor })}>Older runs</button>
      )}
    </section>
  );
}

function Table({ projectId, runs }: { readonly projectId: string; readonly runs: readonly Run[] }) {
  return (
    <ListTable
      caption="Runs"
      columns={[["Run"], ["By", "writer"], ["Last write", "when"], ["Files", "number"], [
        "Versions",
        "number extra",
      ]]}
      onKeyDown={moveInList}
    >
      {runs.map((
        { actors, accounts = [], lastAt, fileCount, versionCount, countsAreExact = true, ...run },
      ) => (
        <tr key={run.runId}>
          <td class="name">
            <RowLink
              to={{ name: "run", projectId, runId: run.runId }}
              icon={run.undoneRunId === undefined ? "run" : "restore"}
              text={runName(run)}
              title={run.runId}
            />
            {run.undoneBy !== undefined && <RunState run={run} />}
          </td>
          <td class="writer">{[...actors.map(visible), ...accounts.map(personName)].join(", ")}</td>
          <td class="when">
            <Age iso={lastAt} />
          </td>
          <td class="number">{formatNumber(fileCount)}{!countsAreExact && "+"}</td>
          <td class="number extra">{formatNumber(versionCount)}{!countsAreExact && "+"}</td>
        </tr>
      ))}
    </ListTable>
  );
}
