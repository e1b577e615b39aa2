/** Loads a folder page by page as a person scrolls. A reload reads the page in view, whose place is in the address. */
import { useRef, useState } from "preact/hooks";
import { type FileList, listFiles } from "../../api/files.ts";
import { FILES_PER_PAGE, FOLDER_FILES_SHOWN_MAX } from "../../limits.ts";
import { setFolders } from "../../state/folders.ts";
import { changesSince, liveCount } from "../../state/live.ts";
import { useLoad, usePatched } from "../../state/use_load.ts";
import { isByPath, mergeChanges, type Sort } from "./merge_changes.ts";
import { isShown, pageOf, type PageStart, type ShownFiles, withPage } from "./shown_files.ts";

interface Folder {
  readonly projectId: string;
  readonly directory: string;
  readonly sort: Sort;
}

interface Adding {
  readonly key: string;
  readonly where: "above" | "below";
  readonly error?: unknown;
}

/** `start` is the start of the page in view. */
export function usePages(folder: Folder, start: PageStart) {
  const { projectId, directory, sort } = folder;
  const key = `${projectId} ${directory} ${sort.by} ${sort.order}`;
  const latest = useRef<{ readonly key: string; readonly shown: ShownFiles } | null>(null);
  const around = () =>
    latest.current?.key === key && isShown(latest.current.shown, start) ? latest.current.shown : null;
  /** A place outside of the loaded pages starts a new list. */
  const origin = useRef({ key, first: start.first });
  if (origin.current.key !== key || (origin.current.first !== start.first && around() === null)) {
    origin.current = { key, first: start.first };
  }
  const load = useLoad(`${key} ${origin.current.first}`, async (signal) => {
    const page = await readCountedPage(folder, start, signal);
    // Read after the request, because the surrounding pages may have changed meanwhile.
    return withPage(around(), page, start, sort);
  });
  const [shown, patch] = usePatched(load.data);
  latest.current = shown === undefined ? null : { key, shown };
  const [adding, setAdding] = useState<Adding | null>(null);
  const isAdding = useRef(false);
  const count = shown?.list.files.length ?? 0;
  const add = async (where: Adding["where"], page: PageStart, limit: number) => {
    if (isAdding.current) return;
    isAdding.current = true;
    setAdding({ key, where });
    try {
      const loaded = await readPage(folder, page, limit);
      if (latest.current?.key === key) {
        patch((before) => {
          if (before === undefined) return before;
          const next = withPage(before, loaded, page, sort);
          latest.current = { key, shown: next };
          return next;
        });
      }
      setAdding(null);
    } catch (error) {
      setAdding({ key, where, error });
    } finally {
      isAdding.current = false;
    }
  };
  const below: PageStart = { first: (shown?.first ?? 0) + count, after: shown?.list.files.at(-1)?.path };
  const above = Math.max(0, (shown?.first ?? 0) - FILES_PER_PAGE);
  return {
    load,
    shown,
    patch: (change: (list: FileList, isFirst: boolean) => FileList) =>
      patch((before) => {
        if (before === undefined) return before;
        const list = change(before.list, before.first === 0);
        return list === before.list ? before : { ...before, list };
      }),
    /** The start of the next page. */
    below,
    isFull: count >= FOLDER_FILES_SHOWN_MAX,
    addBelow: () => add("below", below, FILES_PER_PAGE),
    addAbove: () => add("above", { first: above }, (shown?.first ?? 0) - above),
    /** The page that is being added, or that failed to load. */
    adding: adding?.key === key ? adding : null,
    /** Returns the start of the page with the file; for a folder, the first page. */
    pageOf: (path: string) =>
      shown && pageOf(shown, shown.list.files.findIndex((file) => file.path === path), FILES_PER_PAGE),
  };
}

async function readPage(folder: Folder, start: PageStart, limit: number): Promise<FileList> {
  const told = liveCount();
  return withChanges(folder, start, await listPage(folder, start, limit), told);
}

/** Reads a page and the total. The service counts no files for a page after a path, so a second request does. */
async function readCountedPage(folder: Folder, start: PageStart, signal: AbortSignal): Promise<FileList> {
  const { projectId, directory } = folder;
  const told = liveCount();
  const page = listPage(folder, start, FILES_PER_PAGE, signal);
  const counted = startOf(folder, start).after === undefined
    ? page
    : listFiles(projectId, { directory, limit: 1 }, signal);
  const [list, { total, totalIsExact }] = await Promise.all([page, counted]);
  return withChanges(folder, start, { ...list, total, totalIsExact }, told);
}

function listPage(folder: Folder, start: PageStart, limit: number, signal?: AbortSignal): Promise<FileList> {
  const { projectId, directory, sort } = folder;
  const query = { limit, directory, sortBy: sort.by, sortOrder: sort.order, ...startOf(folder, start) };
  return listFiles(projectId, query, signal);
}

/** Sorted by path, a page begins after a path if that path is known. */
function startOf(
  { sort }: Folder,
  { first, after }: PageStart,
): { after?: string | undefined; offset?: number } {
  return isByPath(sort) && (after !== undefined || first === 0) ? { after } : { offset: first };
}

/**
 * Applies the changes that the feed delivered since the page was requested. `told` is the number of changes before the
 * request.
 */
function withChanges(
  { projectId, directory, sort }: Folder,
  { first }: PageStart,
  page: FileList,
  told: number,
): FileList {
  const { list } = mergeChanges(page, changesSince(projectId, told), {
    directory,
    sort,
    isFirst: first === 0,
  });
  setFolders(projectId, directory, list.directories ?? []);
  return list;
}
