/// <reference lib="dom" />
/**
 * The names of a project for the palette: read once, page by page and a bounded number of them, and then kept up to date
 * by the change feed. In a larger project, the service is asked for the rest.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Change } from "../../api/changes.ts";
import { listFiles } from "../../api/files.ts";
import { formatTotal } from "../../format.ts";
import { PALETTE_NAME_PAGES_MAX } from "../../limits.ts";
import { hasShareLeft } from "../../session/rate_window.ts";
import { useChanges } from "../../state/changes.ts";
import { changesSince, liveCount, useLive } from "../../state/live.ts";

export interface Names {
  readonly paths: ReadonlySet<string>;
  /** How many files the project has, as it is shown. Null: not known yet. */
  readonly total: string | null;
  readonly isComplete: boolean;
  readonly isReading: boolean;
}

const NONE: Names = { paths: new Set(), total: null, isComplete: false, isReading: false };

/** Reads while `isWanted`, and pauses where agents need the requests of the minute. */
export function useNames(projectId: string, isWanted: boolean): Names {
  const [names, setNames] = useState(NONE);
  /** Where to read on; null: nowhere. */
  const next = useRef<{ readonly after: string | undefined; readonly pages: number } | null>({
    after: undefined,
    pages: 0,
  });
  const [turn, setTurn] = useState(0);
  const forget = () => {
    next.current = { after: undefined, pages: 0 };
    setNames(NONE);
    setTurn((before) => before + 1);
  };
  useLive(projectId, (changes) => {
    if (changes === null) forget();
    else setNames((before) => before.total === null ? before : withChanges(before, changes));
  });
  useChanges(({ path, isDeleted }) => {
    if (path === undefined || !isDeleted) return;
    setNames(({ paths, ...rest }) => ({ ...rest, paths: new Set([...paths].filter((one) => one !== path)) }));
  });
  useEffect(() => {
    if (!isWanted) return;
    const abort = new AbortController();
    const read = async () => {
      while (next.current !== null && hasShareLeft(projectId)) {
        const { after, pages } = next.current;
        const told = liveCount();
        const page = await listFiles(projectId, { directory: "", recursive: true, after }, abort.signal);
        abort.signal.throwIfAborted();
        const last = page.files.at(-1)?.path;
        const isOver = !page.hasMore || last === undefined;
        next.current = isOver || pages + 1 >= PALETTE_NAME_PAGES_MAX
          ? null
          : { after: last, pages: pages + 1 };
        setNames((before) =>
          withChanges({
            paths: new Set([...before.paths, ...page.files.map(({ path }) => path)]),
            total: typeof page.total === "number" ? formatTotal(page.total, page.totalIsExact) : before.total,
            isComplete: isOver,
            isReading: next.current !== null,
          }, changesSince(projectId, told))
        );
      }
    };
    // Without names, what was opened before and the actions are still there.
    const end = () => abort.signal.aborted || setNames((before) => ({ ...before, isReading: false }));
    if (next.current !== null) setNames((before) => ({ ...before, isReading: true }));
    read().then(end, end);
    return () => abort.abort();
  }, [projectId, isWanted, turn]);
  return names;
}

function withChanges(names: Names, changes: readonly Change[]): Names {
  if (changes.length === 0) return names;
  const paths = new Set(names.paths);
  for (const { path, deleted } of changes) {
    if (path === undefined) continue;
    if (deleted) paths.delete(path);
    else paths.add(path);
  }
  return { ...names, paths };
}
