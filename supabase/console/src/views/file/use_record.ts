/** The latest version of a file. The change feed keeps it up to date without a request for each version. */
import { recordOf } from "../../api/changes.ts";
import { isCode } from "../../api/failure.ts";
import { type FileAt, type FileRecord, readRecord } from "../../api/files.ts";
import { changesSince, type LiveChange, liveCount, useLive } from "../../state/live.ts";
import { usePacedCall } from "../../state/paced.ts";
import { useLoad, usePatched } from "../../state/use_load.ts";

/** `data` is null for a deleted file. */
export function useRecord(projectId: string, path: string) {
  const load = useLoad(`record ${projectId} ${path}`, async (signal) => {
    const count = liveCount();
    const record = await readLatest({ projectId, path }, signal);
    return changesSince(projectId, count).reduce((one, change) => after(one, change, path), record);
  });
  const [data, patch] = usePatched(load.data);
  const reload = usePacedCall(projectId, load.reload);
  useLive(projectId, (changes) => {
    if (changes === null) return reload();
    const own = changes.filter((change) => change.path === path);
    // A file that was missing, or could not be read, has been written.
    if (load.data === undefined && own.length > 0) return reload();
    patch((record) =>
      record === undefined ? record : own.reduce((one, change) => after(one, change, path), record)
    );
  });
  /** Shows a saved version at once, because a load in progress may not have it. */
  const onSaved = (saved: FileRecord) => {
    patch((record) => record?.id === saved.id && record.version >= saved.version ? record : saved);
    load.reload();
  };
  return { ...load, data, onSaved };
}

async function readLatest(file: FileAt, signal: AbortSignal): Promise<FileRecord | null> {
  try {
    return await readRecord(file, {}, signal);
  } catch (problem) {
    if (isCode(problem, "FILE_NOT_FOUND") && problem.details.deletedVersion !== undefined) return null;
    throw problem;
  }
}

function after(record: FileRecord | null, change: LiveChange, path: string): FileRecord | null {
  if (change.path !== path) return record;
  if (record !== null && record.id === change.fileId && record.version >= change.version) return record;
  return change.deleted ? null : recordOf({ ...change, path });
}
