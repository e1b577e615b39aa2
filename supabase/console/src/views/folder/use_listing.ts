/**
 * The files of a folder, sorted and paged by the service. A filter applies to all files, including those that are not
 * loaded.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { recordOf } from "../../api/changes.ts";
import { cursorBefore, type FileList, type FileRecord, listFiles } from "../../api/files.ts";
import { directoryOf, formatTotal, nameOf } from "../../format.ts";
import {
  FILES_PER_PAGE,
  FILTER_FILES_MAX,
  LIVE_CHANGES_KEPT,
  TOTAL_IN_DOUBT_MILLISECONDS,
} from "../../limits.ts";
import { useChanges } from "../../state/changes.ts";
import { type LiveChange, useLive } from "../../state/live.ts";
import { usePacedCall } from "../../state/paced.ts";
import { type FilesPlace, replaceWith } from "../../state/router.ts";
import { uploadsSettled } from "../../state/transfers.ts";
import { useLoad, useSettled } from "../../state/use_load.ts";
import { inNaturalOrder } from "../../components/natural_order.ts";
import { comparison, isByPath, mergeChanges, type Sort, totalWith } from "./merge_changes.ts";
import type { PageStart } from "./shown_files.ts";
import { useNameScan } from "./name_filter.tsx";
import { usePages } from "./use_pages.ts";

export type { Sort };

export function sortOf({ sort = "path", order = "asc" }: FilesPlace): Sort {
  return { by: sort, order };
}

export function useListing(place: FilesPlace, filter: string) {
  const { projectId, directory, first = 0, after } = place;
  const { by, order } = sortOf(place);
  const pages = usePages({ projectId, directory, sort: { by, order } }, { first, after });
  const { load, patch, shown } = pages;
  const data = shown?.list;
  const page = (isFirst: boolean) => ({ directory, sort: { by, order }, isFirst });
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
  // Files that were written or deleted (null) after the names were read, so that the names need not be read again.
  const [changed, setChanged] = useState<ReadonlyMap<string, FileRecord | null>>(new Map());
  const reload = () => {
    load.reload();
    early.reload();
  };
  /** A reloaded page may already count changes that the feed delivers only afterwards. */
  const totalInDoubtUntil = useRef(0);
  /** The time starts when the page has arrived, because a busy service may take longer than that to send it. */
  const doubtTotal = () => totalInDoubtUntil.current = Infinity;
  useEffect(() => {
    if (totalInDoubtUntil.current === Infinity) {
      totalInDoubtUntil.current = performance.now() + TOTAL_IN_DOUBT_MILLISECONDS;
    }
  }, [load.data]);
  const isTotalInDoubt = (list: FileList) =>
    list.files.length > FILES_PER_PAGE && performance.now() < totalInDoubtUntil.current;
  /** Changes of this tab, for which it has already reloaded the list. */
  const own = useRef(new Set<string>());
  useChanges(({ path, isDeleted }) => {
    if (path !== undefined) {
      own.current.add(path);
      setChanged((before) => new Map([...before].filter(([one]) => one !== path)));
      if (isDeleted) {
        setChanged((before) => new Map(before).set(path, null));
        patch((list) => withoutFile(list, path));
      }
    }
    doubtTotal();
    reload();
  });
  const refresh = usePacedCall(projectId, load.reload);
  const refreshStale = () => {
    doubtTotal();
    refresh();
  };
  useLive(projectId, (changes) => {
    if (changes === null) return refreshStale();
    const here = changes.filter(({ path = "" }) => path !== "" && directoryOf(path) === directory);
    setChanged((before) => withChanges(before, here));
    patch((list, isFirst) => {
      const merged = mergeChanges(list, changes, page(isFirst));
      const others = changes.filter(({ path = "" }) => !own.current.delete(path));
      if (merged.isStale && mergeChanges(list, others, page(isFirst)).isStale) refreshStale();
      else if (merged.list.total !== list.total && isTotalInDoubt(list)) refresh();
      return merged.list;
    });
  });
  const found = filter === ""
    ? files
    : matching([...scan.files, ...early.files, ...files], changed, filter, { by, order });
  const isFromStart = shown?.first === 0;
  const foldersFound = filter === "" && !isFromStart
    ? []
    : (data?.directories ?? []).filter((name) => contains(name, filter));
  // An incompletely loaded folder keeps the service's order, which is by bytes.
  const isNatural = by === "path" && isFromStart && !data?.hasMore && !isLarge;
  const listed = filter === "" ? found : found.slice(0, FILTER_FILES_MAX);
  const placeOf = (start: PageStart): FilesPlace => ({
    ...place,
    first: start.first === 0 ? undefined : start.first,
    after: isByPath({ by, order }) ? start.after : undefined,
  });
  return {
    ...load,
    data,
    reload,
    files: isNatural ? inNaturalOrder(listed, ({ path }) => nameOf(path), order) : listed,
    foundCount: found.length,
    folders: isNatural ? inNaturalOrder(foldersFound, (name) => name, order) : foldersFound,
    /** Null unless the filter searches beyond the loaded files. */
    scan: isLarge && filter !== "" ? scan : null,
    isSearching: isLarge && (filter !== settled || scan.isRunning),
    first: shown?.first ?? first,
    count: files.length,
    /** The number of files in the folder, formatted. */
    total: formatTotal(total, data?.totalIsExact),
    pages,
    /** The place at which the next page begins, for a URL. */
    next: placeOf(pages.below),
    /** Writes the page that is shown to the URL, without adding an entry to the browser's history. */
    keepFirstRow: (path: string) => {
      const start = pages.pageOf(path);
      if (start !== undefined && start.first !== first) replaceWith(placeOf(start));
    },
  };
}

/** Finds files whose name begins with the text. One request finds them before all names are read. */
function useNamesThatBegin(projectId: string, directory: string, text: string) {
  const { data, reload } = useLoad(`${projectId} ${directory} ${text}`, async (signal) => {
    if (text === "") return [];
    const list = await listFiles(projectId, { directory, after: cursorBefore(directory, text) }, signal);
    return list.files.filter(({ path }) => nameOf(path).startsWith(text));
  });
  return { files: data ?? [], reload };
}

/** Returns the latest state of each file whose name contains the filter. */
function matching(
  files: readonly FileRecord[],
  changed: ReadonlyMap<string, FileRecord | null>,
  filter: string,
  sort: Sort,
): readonly FileRecord[] {
  const byPath = new Map([...files.map((file) => [file.path, file] as const), ...changed]);
  return [...byPath.values()].filter((file) => file !== null)
    .filter(({ path }) => contains(nameOf(path), filter))
    .sort(comparison(sort));
}

function withoutFile(list: FileList, path: string): FileList {
  const files = list.files.filter((file) => file.path !== path);
  return files.length === list.files.length ? list : { ...list, files, total: totalWith(list, -1) };
}

function withChanges(
  before: ReadonlyMap<string, FileRecord | null>,
  changes: readonly LiveChange[],
): ReadonlyMap<string, FileRecord | null> {
  const next = new Map(before);
  for (const change of changes) {
    const { path } = change;
    if (path !== undefined) next.set(path, change.deleted ? null : recordOf({ ...change, path }));
  }
  // Keeps only the latest changes, because agents may write all day.
  return new Map([...next].slice(-LIVE_CHANGES_KEPT));
}

function contains(name: string, filter: string): boolean {
  return name.toLowerCase().includes(filter.toLowerCase());
}
