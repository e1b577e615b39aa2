/** Who wrote a run, when, why, how much, and what became of it. */
import { readNotes, type RunDetails } from "../../api/runs.ts";
import { Counts, type LineCounts } from "../../components/line_counts.tsx";
import { Age } from "../../components/list.tsx";
import type { Writer } from "../../components/undo_dialog.tsx";
import { formatCount, formatSpan, visible } from "../../format.ts";
import { RUN_NOTES_SHOWN } from "../../limits.ts";
import { isOneself, personName } from "../../state/keys.ts";
import { useLoad } from "../../state/use_load.ts";
import { RunLink, RunState } from "./run_name.tsx";

interface Properties {
  readonly projectId: string;
  readonly run: RunDetails;
  readonly writers: readonly Writer[];
  readonly counts: ReadonlyMap<string, LineCounts>;
}

export function RunSummary({ projectId, run, writers, counts }: Properties) {
  const { actors, fileCount, versionCount, firstAt, lastAt, countsAreExact = true } = run;
  const span = formatSpan(firstAt, lastAt);
  return (
    <div class="run-summary">
      <Notes projectId={projectId} run={run} />
      <p class="facts">
        <RunState run={run} />
        {actors.length > 0 && <strong>{actors.map(visible).join(", ")}</strong>}
        {writers.length > 0 && <span>{writtenBy(writers, run.accounts)}</span>}
        <Age iso={lastAt} />
        {span !== null && <span>lasted {span}</span>}
        <span>
          {!countsAreExact && "at least "}
          {formatCount(versionCount, "version")} of {formatCount(fileCount, "file")}
        </span>
        <Lines counts={counts} fileCount={fileCount} />
      </p>
      <Undos projectId={projectId} run={run} />
    </div>
  );
}

function Notes({ projectId, run }: Pick<Properties, "projectId" | "run">) {
  const key = `notes ${projectId} ${run.runId} ${run.lastAt}`;
  // The page is complete without the notes.
  const { data: notes = [] } = useLoad(key, (signal) => readNotes(projectId, run, signal));
  return (
    <>
      {notes.slice(0, RUN_NOTES_SHOWN).map((note) => <p key={note}>{visible(note)}</p>)}
      {notes.length > RUN_NOTES_SHOWN && (
        <p class="hint">and {formatCount(notes.length - RUN_NOTES_SHOWN, "other note")}</p>
      )}
    </>
  );
}

/** The lines of all files whose changes were read; with fewer than all files, their number. */
function Lines({ counts, fileCount }: Pick<Properties, "counts"> & { readonly fileCount: number }) {
  if (counts.size === 0) return null;
  const sum = { additions: 0, deletions: 0 };
  for (const { additions, deletions } of counts.values()) {
    sum.additions += additions;
    sum.deletions += deletions;
  }
  return (
    <span>
      <Counts counts={sum} />
      {counts.size < fileCount && ` in the ${formatCount(counts.size, "file")} shown`}
    </span>
  );
}

/** `with the key test`, `with the keys test, other and in the console`, `by ada@example.org`. */
function writtenBy(writers: readonly Writer[], accounts: RunDetails["accounts"] = []): string {
  const names = writers.flatMap(({ name, keys }) => keys === "own" ? [] : name);
  const keys = `with the ${names.length === 1 ? "key" : "keys"} ${names.join(", ")}`;
  const others = accounts.filter((person) => !isOneself(person)).map(personName);
  const isOwn = writers.some(({ keys }) => keys === "own") &&
    (others.length === 0 || accounts.some(isOneself));
  return [
    ...names.length > 0 ? [keys] : [],
    ...isOwn ? ["in the console"] : [],
    ...others.length > 0 ? [`by ${others.join(", ")}`] : [],
  ].join(" and ");
}

function Undos(
  { projectId, run: { runId: undone, undoneRunId, undoneBy = [] } }: Pick<Properties, "projectId" | "run">,
) {
  if (undoneRunId === undefined && undoneBy.length === 0) return null;
  return (
    <p class="undos">
      {undoneRunId !== undefined && (
        <>
          This run has undone <RunLink projectId={projectId} run={{ runId: undoneRunId }} />.{" "}
        </>
      )}
      {undoneBy.length > 0 && (
        <>
          Undone by: {undoneBy.map((runId, index) => (
            <span key={runId}>
              {index > 0 && ", "}
              <RunLink projectId={projectId} run={{ runId, undoneRunId: undone }} />
            </span>
          ))}.
        </>
      )}
    </p>
  );
}
