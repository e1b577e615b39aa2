/** The names of a project's files for the palette: at most a bounded number, read on first use and again after a change. */
import { useEffect, useRef, useState } from "preact/hooks";
import { listFiles } from "../../api/files.ts";
import { formatTotal } from "../../format.ts";
import { PALETTE_NAME_PAGES_MAX } from "../../limits.ts";
import { hasShareLeft } from "../../session/rate_window.ts";
import { useChanges } from "../../state/changes.ts";
import { useLive } from "../../state/live.ts";

export interface Names {
  readonly paths: readonly string[];
  /** The number of files in the project, formatted. Null: not known yet. */
  readonly total: string | null;
  readonly isComplete: boolean;
  readonly isReading: boolean;
}

/** Reads the names once `isWanted`, and stops if agents need the requests of the minute. */
export function useNames(projectId: string, isWanted: boolean): Names {
  const [names, setNames] = useState<Names>({ paths: [], total: null, isComplete: false, isReading: false });
  const isStale = useRef(true);
  const onChange = () => void (isStale.current = true);
  useLive(projectId, onChange);
  useChanges(onChange);
  useEffect(() => {
    if (!isWanted || !isStale.current || !hasShareLeft(projectId)) return;
    const abort = new AbortController();
    isStale.current = false;
    setNames((before) => ({ ...before, isReading: true }));
    readNames(projectId, abort.signal).then(setNames, () => {
      // After a failure, the palette still offers recent places and actions.
      isStale.current = true;
      setNames((before) => ({ ...before, isReading: false }));
    });
    return () => abort.abort();
  }, [projectId, isWanted]);
  return names;
}

async function readNames(projectId: string, signal: AbortSignal): Promise<Names> {
  const paths: string[] = [];
  let total: string | null = null;
  let hasMore = true;
  for (let pages = 0; hasMore && pages < PALETTE_NAME_PAGES_MAX; pages++) {
    if (pages > 0 && !hasShareLeft(projectId)) break;
    const page = await listFiles(projectId, { directory: "", recursive: true, after: paths.at(-1) }, signal);
    paths.push(...page.files.map(({ path }) => path));
    total ??= typeof page.total !== "number" ? null : formatTotal(page.total, page.totalIsExact);
    hasMore = page.hasMore && page.files.length > 0;
  }
  return { paths, total, isComplete: !hasMore, isReading: false };
}
