/** The changes of one run, file by file, and its undo. */
import { may } from "../../state/projects.ts";
import { Allowed } from "../../components/allowed.tsx";
import { useEffect, useState } from "preact/hooks";
import { isCode } from "../../api/failure.ts";
import { readRun, type RunDetails } from "../../api/runs.ts";
import { useCommands } from "../../components/commands.ts";
import { Icon } from "../../components/icon.tsx";
import type { LineCounts } from "../../components/line_counts.tsx";
import { Empty, Pending } from "../../components/states.tsx";
import { shortenId } from "../../format.ts";
import { ensureKeys, writerName } from "../../state/keys.ts";
import { useLive } from "../../state/live.ts";
import { usePacedCall } from "../../state/paced.ts";
import { type FilesPlace, goTo, hrefOf, type RunPlace } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { UndoDialog, type Writer } from "../../components/undo_dialog.tsx";
import { RunFiles } from "./run_files.tsx";
import { runHeading, runName } from "./run_name.tsx";
import { RunSummary } from "./run_summary.tsx";

export function RunView({ place }: { readonly place: RunPlace }) {
  const { projectId, runId, after } = place;
  const [isUndoing, setUndoing] = useState(false);
  const key = `run ${projectId} ${runId} ${after}`;
  const { data, error, reload } = useLoad(key, (signal) => readRun(projectId, runId, after, signal));
  const refresh = usePacedCall(projectId, reload);
  const title = runHeading(data ?? { runId });
  const writers = data === undefined ? [] : writersOf(projectId, data);
  useEffect(() => void ensureKeys(projectId), [projectId]);
  useLive(projectId, (changes) => {
    // An undo of this run is another run.
    const isAbout = changes?.some((change) => change.runId === runId || change.operation === "undo") ?? true;
    if (isAbout) refresh();
  });
  useCommands(data === undefined ? [] : commandsOf(projectId, data, () => setUndoing(true)));
  if (isCode(error, "RUN_NOT_FOUND")) return <Unknown place={place} />;
  return (
    <section class="view" aria-labelledby="run-title">
      <div class="view-head">
        <h1 id="run-title" title={runId}>{title}</h1>
        {data && (
          <div class="tools">
            <a class="button" href={hrefOf(placeBefore(projectId, data))}>
              <Icon name="history" />View before this run
            </a>
            <Allowed right="write">
              <button type="button" onClick={() => setUndoing(true)}>
                <Icon name="restore" />Undo …
              </button>
            </Allowed>
          </div>
        )}
      </div>
      {data === undefined
        ? <Pending {...{ error, reload }} what="the run" />
        : <Run key={key} {...{ place, writers }} run={data} />}
      {isUndoing && (
        <UndoDialog
          {...{ projectId, runId, writers }}
          title={data?.undoneRunId && `the undo of ${shortenId(data.undoneRunId)}`}
          onClose={() => setUndoing(false)}
        />
      )}
    </section>
  );
}

function Unknown({ place: { projectId, runId } }: { readonly place: RunPlace }) {
  return (
    <section class="view" aria-labelledby="run-title">
      <div class="view-head">
        <h1 id="run-title">No such run</h1>
      </div>
      <Empty icon="run" title={`Nothing was written under the run id ${runId}.`}>
        <p>
          <a href={hrefOf({ name: "runs", projectId })}>All runs</a>
        </p>
      </Empty>
    </section>
  );
}

interface Properties {
  readonly place: RunPlace;
  readonly run: RunDetails;
  readonly writers: readonly Writer[];
}

function Run({ place, run, writers }: Properties) {
  const { projectId } = place;
  const [counts, setCounts] = useState<ReadonlyMap<string, LineCounts>>(new Map());
  return (
    <>
      <RunSummary {...{ projectId, run, writers, counts }} />
      <RunFiles
        {...{ projectId, run, counts }}
        onCounted={(fileId, counted) => setCounts((before) => new Map(before).set(fileId, counted))}
      />
      {run.hasMore && (
        <button
          type="button"
          onClick={() => goTo({ ...place, after: run.files.at(-1)?.fileId })}
        >
          More files
        </button>
      )}
    </>
  );
}

function commandsOf(projectId: string, run: RunDetails, undo: () => void) {
  const about = runName(run);
  const undoing = { id: "undo-run", text: "Undo the run …", about, icon: "restore", run: undo } as const;
  return [
    ...may("write") ? [undoing] : [],
    {
      id: "before-run",
      text: "View before this run",
      about,
      icon: "history",
      run: () => goTo(placeBefore(projectId, run)),
    },
  ] as const;
}

/** The project as it was just before the run. */
function placeBefore(projectId: string, run: RunDetails): FilesPlace {
  const at = new Date(new Date(run.firstAt).getTime() - 1).toISOString();
  return { name: "files", projectId, directory: "", at };
}

/** Returns the console and the keys that wrote the shown files under this run id: any key can use any run id. */
function writersOf(projectId: string, { files }: RunDetails): readonly Writer[] {
  const keyIds = [...new Set(files.flatMap((file) => file.keyIds ?? []))];
  const keys = keyIds.map((id) => ({ name: writerName(projectId, id), keys: [id] }));
  const isConsole = files.some(({ own }) => own);
  return [...isConsole ? [{ name: writerName(projectId, null), keys: "own" as const }] : [], ...keys];
}
