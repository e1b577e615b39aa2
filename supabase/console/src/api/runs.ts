import type {
  Run,
  RunDetails,
  RunFile,
  RunPage,
  UndoResult as Undo,
} from "../../../functions/api/contract/runs.ts";
import { RUN_NOTED_VERSIONS, RUNS_PER_PAGE } from "../limits.ts";
import { listChangesBefore } from "./changes.ts";
import { call } from "./client.ts";

export type { Run, RunDetails, RunFile, Undo };

/** What to do with files that have other changes after the run. */
export type OnConflict = "refuse" | "skip" | "overwrite";

export interface HowToUndo {
  readonly onConflict: OnConflict;
  /** Undoes only the changes made in the console, or with these keys. */
  readonly keys?: "own" | readonly string[] | undefined;
}

/** Newest first; `after` is the cursor of the previous page. */
export function listRuns(
  projectId: string,
  after: string | undefined,
  signal?: AbortSignal,
): Promise<RunPage> {
  return call({ path: "/runs", projectId, query: { limit: RUNS_PER_PAGE, after }, signal });
}

/** `after` is the `fileId` of the last file on the previous page. */
export function readRun(
  projectId: string,
  runId: string,
  after: string | undefined,
  signal?: AbortSignal,
): Promise<RunDetails> {
  return call({ path: urlPath(runId), projectId, query: { after }, signal });
}

/** Returns the different notes of the run's newest versions, the oldest first. */
export async function readNotes(
  projectId: string,
  { runId: run, lastAt }: Pick<Run, "runId" | "lastAt">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // The service leaves out what was written at the time itself.
  const before = new Date(Date.parse(lastAt) + 1).toISOString();
  const query = { run, before, limit: RUN_NOTED_VERSIONS };
  const { changes } = await listChangesBefore(projectId, query, signal);
  return [...new Set(changes.toReversed().flatMap(({ note }) => note ?? []))];
}

/** Returns what an undo would do now. */
export function planUndo(
  projectId: string,
  runId: string,
  how: HowToUndo,
  signal?: AbortSignal,
): Promise<Undo> {
  const path = `${urlPath(runId)}/undo`;
  return call({ method: "POST", path, projectId, body: { dryRun: true, ...how }, signal });
}

/** Fails with RUN_CONFLICT if its files have later changes and `onConflict` is `refuse`. */
export function undoRun(projectId: string, runId: string, how: HowToUndo): Promise<Undo> {
  return call({
    method: "POST",
    path: `${urlPath(runId)}/undo`,
    projectId,
    headers: { "idempotency-key": crypto.randomUUID() },
    body: { dryRun: false, ...how },
  });
}

function urlPath(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`;
}
