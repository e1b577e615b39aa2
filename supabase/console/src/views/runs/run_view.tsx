/** The changes of one run, file by file, and its undo. */
import { useEffect, useState } from "preact/hooks";
import { readRun, type RunDetails, type RunFile } from "../../api/runs.ts";
import { Age, ListTable, moveInList, RowLink } from "../../components/list.tsx";
import { useCommands } from "../../components/commands.ts";
import { fileIcon } from "../../components/file_icon.ts";
import { Icon } from "../../components/icon.tsx";
import { Pending } from "../../components/states.tsx";
import { describeOperation, formatCount, visible } from "../../format.ts";
import { ensureKeys, writerName } from "../../state/keys.ts";
import { useLive } from "../../state/live.ts";
import { usePacedCall } from "../../state/paced.ts";
import { type FilesPlace, goTo, hrefOf, type RunPlace } from "../../state/router.ts";
import { useLoad } from "../../state/use_load.ts";
import { UndoDialog, type Writer } from "../../components/undo_dialog.tsx";

export function RunView({ place }: { readonly place: RunPlace }) {
  const { projectId, runId, after } = place;
  const [isUndoing, setUndoing] = useState(false);
  const key = `run ${projectId} ${runId} ${after}`;
  const { data, error, reload } = useLoad(key, (signal) => readRun(projectId, runId, after, signal));
  const refresh = usePacedCall(projectId, reload);
  const writers = data === undefined ? [] : writersOf(projectId, data);
  const areNamed = writers.length > 1;
  useEffect(() => {
    if (areNamed) void ensureKeys(projectId);
  }, [projectId, areNamed]);
  useLive(projectId, (changes) => {
    if (changes === null || changes.some((change) => change.runId === runId)) refresh();
  });
  useCommands(
    data === undefined ? [] : [
      { id: "undo-run", text: "Undo the run …", about: runId, icon: "restore", run: () => setUndoing(true) },
      {
        id: "before-run",
        text: "As it was before the run",
        about: runId,
        icon: "history",
        run: () => goTo(placeBefore(projectId, data)),
      },
    ],
  );
  return (
    <section class="view" aria-labelledby="run-title">
      <div class="view-head">
        <h1 id="run-title">Run {runId}</h1>
        <div class="tools">
          {data && (
            <a class="button" href={hrefOf(placeBefore(projectId, data))}>
              <Icon name="history" />As it was before
            </a>
          )}
          <button type="button" disabled={data === undefined} onClick={() => setUndoing(true)}>
            <Icon name="restore" />Undo …
          </button>
        </div>
      </div>
      {data === undefined ? <Pending {...{ error, reload }} what="the run" /> : (
        <>
          <Summary run={data} writers={writers} />
          <Table projectId={projectId} run={data} />
          {data.hasMore && (
            <button
              type="button"
              onClick={() => goTo({ ...place, after: data.files.at(-1)?.fileId })}
            >
              More files
            </button>
          )}
        </>
      )}
      {isUndoing && <UndoDialog {...{ projectId, runId, writers }} onClose={() => setUndoing(false)} />}
    </section>
  );
}

/** The project as it was just before the run. */
function placeBefore(projectId: string, run: RunDetails): FilesPlace {
  const at = new Date(new Date(run.firstAt).getTime() - 1).toISOString();
  return { name: "files", projectId, directory: "", at };
}

function Summary({ run, writers }: { readonly run: RunDetails; readonly writers: readonly Writer[] }) {
  const { actors, fileCount, versionCount, firstAt, lastAt, countsAreExact = true } = run;
  return (
    <p class="hint">
      {!countsAreExact && "At least "}
      {formatCount(versionCount, "version")} of {formatCount(fileCount, "file")}
      {actors.length > 0 && `, by ${actors.map(visible).join(", ")}`}. From <Age iso={firstAt} /> to{" "}
      <Age iso={lastAt} />.
      {writers.length > 1 && ` Written with ${writers.map(({ name }) => name).join(", ")}.`}
    </p>
  );
}

/** Returns the console and the keys that wrote the shown files under this run id: any key can use any run id. */
function writersOf(projectId: string, { files }: RunDetails): readonly Writer[] {
  const keyIds = [...new Set(files.flatMap((file) => file.keyIds ?? []))];
  const keys = keyIds.map((id) => ({ name: writerName(projectId, id), keys: [id] }));
  const isConsole = files.some(({ own }) => own);
  return [...isConsole ? [{ name: writerName(projectId, null), keys: "own" as const }] : [], ...keys];
}

function Table({ projectId, run }: { readonly projectId: string; readonly run: RunDetails }) {
  // The API sorts the files by id, so that pages are stable.
  const files = run.files.toSorted((a, b) => a.path < b.path ? -1 : 1);
  return (
    <ListTable
      caption={`Files of ${run.runId}`}
      columns={[["File"], ["What", "extra"], ["Versions", "number"], ["Actions", "actions"]]}
      onKeyDown={moveInList}
    >
      {files.map((file) => <Row key={file.fileId} {...{ projectId, file }} />)}
    </ListTable>
  );
}

function Row({ projectId, file }: { readonly projectId: string; readonly file: RunFile }) {
  const { path, firstVersion, lastVersion, operation } = file;
  const place = { name: "file", projectId, path } as const;
  return (
    <tr>
      <td class="name">
        <RowLink
          to={{ ...place, tab: "history" }}
          icon={operation === "delete" ? "trash" : fileIcon(file)}
          text={path}
        />
      </td>
      <td class="extra">{describeOperation(path, { operation })}</td>
      <td class="number">{firstVersion === lastVersion ? firstVersion : `${firstVersion}–${lastVersion}`}</td>
      <td class="actions">
        {firstVersion > 1 && operation !== "delete" && (
          <a
            aria-label={`Changes of ${visible(path)}`}
            href={hrefOf({ ...place, tab: "compare", from: firstVersion - 1, to: lastVersion })}
          >
            Changes
          </a>
        )}
      </td>
    </tr>
  );
}
