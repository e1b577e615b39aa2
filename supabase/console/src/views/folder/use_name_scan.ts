/**
 * The names of a folder that is larger than a page, for its filter: the API lists names but does not filter them. They
 * are read once, page by page, and then serve every filter.
 */
import { useEffect, useState } from "preact/hooks";
import { type FileRecord, listFiles } from "../../api/files.ts";
import { FILTER_PAGES_MAX, FILTER_PAGES_MIN } from "../../limits.ts";
import { hasShareLeft } from "../../session/rate_window.ts";

interface Scanned {
  readonly key: string;
  /** By path, from the beginning of the folder. */
  readonly files: readonly FileRecord[];
  readonly isComplete: boolean;
}

export interface NameScan extends Omit<Scanned, "key"> {
  readonly isRunning: boolean;
  readonly error: unknown;
  /** Reads on, where the scan has paused or failed. */
  readonly resume: () => void;
}

/** Reads only while `isWanted`. A new `key` begins anew. */
export function useNameScan(projectId: string, directory: string, key: string, isWanted: boolean): NameScan {
  const nothing: Scanned = { key, files: [], isComplete: false };
  const [scanned, setScanned] = useState<Scanned>(nothing);
  const [error, setError] = useState<unknown>(undefined);
  const [isRunning, setRunning] = useState(false);
  const [resumes, setResumes] = useState(0);
  const current = scanned.key === key ? scanned : nothing;
  useEffect(() => {
    if (!isWanted || current.isComplete) return;
    const abort = new AbortController();
    setRunning(true);
    setError(undefined);
    readOn(projectId, directory, current, setScanned, abort.signal).then(
      () => abort.signal.aborted || setRunning(false),
      (problem) => {
        if (abort.signal.aborted) return;
        setRunning(false);
        setError(problem);
      },
    );
    return () => abort.abort();
  }, [key, isWanted, resumes]);
  const { files, isComplete } = current;
  return { files, isComplete, isRunning, error, resume: () => setResumes(resumes + 1) };
}

/** Reads until the end, or pauses: after FILTER_PAGES_MAX pages, or so that agents keep their share of the requests. */
async function readOn(
  projectId: string,
  directory: string,
  start: Scanned,
  onRead: (scanned: Scanned) => void,
  signal: AbortSignal,
): Promise<void> {
  let scanned = start;
  for (let pages = 0; pages < FILTER_PAGES_MAX && !scanned.isComplete; pages++) {
    if (pages >= FILTER_PAGES_MIN && !hasShareLeft(projectId)) return;
    const after = scanned.files.at(-1)?.path;
    const { files, hasMore } = await listFiles(projectId, { directory, after }, signal);
    signal.throwIfAborted();
    scanned = { ...scanned, files: [...scanned.files, ...files], isComplete: !hasMore };
    onRead(scanned);
  }
}
