/// <reference lib="dom" />
/** The files of a folder: sorted and paged by the service; a filter is over all of them, whatever the page. */
import { useRef, useState } from "preact/hooks";
import { recordOf } from "../../api/changes.ts";
import { listFiles } from "../../api/files.ts";
import type { FileRecord } from "../../api/records.ts";
import { directoryOf, nameOf } from "../../format.ts";
import { FILES_PER_PAGE, FILTER_FILES_MAX, LIVE_CHANGES_KEPT } from "../../limits.ts";
import { useChanges } from "../../state/changes.ts";
import { setFolders } from "../../state/folders.ts";
import { changesSince, type LiveChange, liveCount, useLive } from "../../state/live.ts";
import { usePacedCall } from "../../state/paced.ts";
import { type FilesPlace, goTo } from "../../state/router.ts";
import { uploadsSettled } from "../../state/transfers.ts";
import { useLoad } from "../../state/use_load.ts";
import { cursorBefore } from "../../api/cursor_before.ts";
import { usePatched } from "../../state/use_patched.ts";
import { useSettled } from "../../state/use_settled.ts";
import { comparison, mergeChanges, type Sort } from "./merge_changes.ts";
import { inNaturalOrder } from "./natural_order.ts";
import { useNameScan } from "./use_name_scan.ts";

export type { Sort };

/** What the service is asked for. */
export function sortOf({ sort = "path", order = "asc" }: FilesPlace): Sort {
  return { by: sort === "natural" ? "path" : sort, order };
}

export function useListing(place: FilesPlace, filter: string) {
  const { projectId, directory, first = 0, after } = place;
  const { by, order } = sortOf(place);
  const isByCursor = by === "path" && order === "asc";
  const page = { directory, sort: { by, order }, isFirst: first === 0 };
  const load = useLoad(`${projectId} ${directory} ${by} ${order} ${first} ${after}`, async (signal) => {
    const start = isByCursor && (after !== undefined || first === 0) ? { after } : { offset: first };
    const query = { directory, sortBy: by, sortOrder: order, ...start };
    const told = liveCount();
    const loaded = await listFiles(projectId, query, signal);
    const { list } = mergeChanges(loaded, changesSince(projectId, told), page);
    setFolders(projectId, directory, list.directories ?? []);
    return list;
  });
  const [data, patch] = usePatched(load.data);
  const files = data?.files ?? [];
  const total = data?.total ?? 0;
  const isLarge = total > FILES_PER_PAGE;
  const settled = useSettled(filter);
  const scan = useNameScan(
    projectId,
    directory,
    `${projectId} ${directory} ${uploadsSettled.value}`,
    isLarge && settled !== "",
  );
  const early = useNamesThatBegin(projectId, directory, isLarge && !scan.isComplete ? settled : "");
  // The names that were read are not read again for each deletion, nor for each file that comes.
  const [deleted, setDeleted] = useState<ReadonlySet<string>>(new Set());
  const [told, setTold] = useState<ReadonlyMap<string, FileRecord>>(new Map());
  const reload = () => {
    load.reload();
    early.reload();
  };
  /** What this tab has done, for which it has loaded the list already. */
  const own = useRef(new Set<string>());
  useChanges(({ path, isDeleted }) => {
    if (path !== undefined) {
      own.current.add(path);
      setDeleted(withPath(deleted, path, isDeleted ?? false));
    }
    reload();
  });
  const refresh = usePacedCall(projectId, load.reload);
  useLive(projectId, (changes) => {
    if (changes === null) return refresh();
    const here = changes.filter(({ path = "" }) => path !== "" && directoryOf(path) === directory);
    setDeleted((before) =>
      here.reduce((paths, { path = "", deleted }) => withPath(paths, path, deleted ?? false), before)
    );
    setTold((before) => withRecords(before, here));
    patch((list) => {
      if (list === undefined) return list;
      const merged = mergeChanges(list, changes, page);
      const others = changes.filter(({ path = "" }) => !own.current.delete(path));
      if (merged.isStale && mergeChanges(list, others, page).isStale) refresh();
      return merged.list;
    });
  });
  const found = filter === ""
    ? files
    : matching([...scan.files, ...early.files, ...told.values(), ...files], filter, { by, order })
      .filter(({ path }) => !deleted.has(path));
  const foldersFound = filter === "" && first > 0
    ? []
    : (data?.directories ?? []).filter((name) => contains(name, filter));
  const isWhole = data === undefined ? undefined : first === 0 && !data.hasMore;
  const isNatural = place.sort === "natural" && isWhole === true;
  const shown = filter === "" ? found : found.slice(0, FILTER_FILES_MAX);
  const pages = useRef(new Map<number, string | undefined>());
  pages.current.set(first, after);
  const turnTo = (next: number, cursor: string | undefined) =>
    goTo({ ...place, first: next, after: isByCursor ? cursor : undefined });
  return {
    ...load,
    data,
    reload,
    files: isNatural ? inNaturalOrder(shown, ({ path }) => nameOf(path), order) : shown,
    foundCount: found.length,
    folders: isNatural ? inNaturalOrder(foldersFound, (name) => name, order) : foldersFound,
    /** All files of the folder are on this page. Undefined until it is loaded. */
    isWhole,
    /** Null unless a filter looks further than this page. */
    scan: isLarge && filter !== "" ? scan : null,
    isSearching: isLarge && (filter !== settled || scan.isRunning),
    first,
    count: files.length,
    total,
    next: () => turnTo(first + files.length, files.at(-1)?.path),
    previous: () => {
      const before = Math.max(0, first - FILES_PER_PAGE);
      turnTo(before, pages.current.get(before));
    },
  };
}

/** The files whose name begins with the text: one request finds them before all names have been read. */
function useNamesThatBegin(projectId: string, directory: string, text: string) {
  const { data, reload } = useLoad(`${projectId} ${directory} ${text}`, async (signal) => {
    if (text === "") return [];
    const list = await listFiles(projectId, { directory, after: cursorBefore(directory, text) }, signal);
    return list.files.filter(({ path }) => nameOf(path).startsWith(text));
  });
  return { files: data ?? [], reload };
}

function matching(files: readonly FileRecord[], filter: string, sort: Sort): readonly FileRecord[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return [...byPath.values()].filter(({ path }) => contains(nameOf(path), filter)).sort(comparison(sort));
}

function withRecords(
  records: ReadonlyMap<string, FileRecord>,
  changes: readonly LiveChange[],
): ReadonlyMap<string, FileRecord> {
  const next = new Map(records);
  for (const change of changes) {
    if (change.path !== undefined) next.set(change.path, recordOf({ ...change, path: change.path }));
  }
  // Of a folder where agents write all day, the last ones.
  return new Map([...next].slice(-LIVE_CHANGES_KEPT));
}

function withPath(paths: ReadonlySet<string>, path: string, isIn: boolean): ReadonlySet<string> {
  const next = new Set(paths);
  if (isIn) next.add(path);
  else next.delete(path);
  return next;
}

function contains(name: string, filter: string): boolean {
  return name.toLowerCase().includes(filter.toLowerCase());
}
