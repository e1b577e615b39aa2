/// <reference lib="dom" />
/** The files of a folder: sorted and paged by the service; a filter is over all of them, whatever the page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { listFiles, type SortField, type SortOrder } from "../../api/files.ts";
import type { FileRecord } from "../../api/records.ts";
import { nameOf } from "../../format.ts";
import { FILES_PER_PAGE, FILTER_FILES_MAX, FILTER_PAUSE_MILLISECONDS } from "../../limits.ts";
import { useChanges } from "../../state/changes.ts";
import { setFolders } from "../../state/folders.ts";
import { type FilesPlace, goTo } from "../../state/router.ts";
import { uploadsSettled } from "../../state/transfers.ts";
import { useLoad } from "../../state/use_load.ts";
import { cursorBefore } from "../../api/cursor_before.ts";
import { useNameScan } from "./use_name_scan.ts";

export interface Sort {
  readonly by: SortField;
  readonly order: SortOrder;
}

export function sortOf({ sort: by = "path", order = "asc" }: FilesPlace): Sort {
  return { by, order };
}

export function useListing(place: FilesPlace, filter: string) {
  const { projectId, directory, first = 0, after } = place;
  const { by, order } = sortOf(place);
  const isByCursor = by === "path" && order === "asc";
  const load = useLoad(`${projectId} ${directory} ${by} ${order} ${first} ${after}`, async (signal) => {
    const start = isByCursor && (after !== undefined || first === 0) ? { after } : { offset: first };
    const query = { directory, sortBy: by, sortOrder: order, ...start };
    const list = await listFiles(projectId, query, signal);
    setFolders(projectId, directory, list.directories ?? []);
    return list;
  });
  const { data } = load;
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
  // The names that were read are not read again for each deletion.
  const [deleted, setDeleted] = useState<ReadonlySet<string>>(new Set());
  const reload = () => {
    load.reload();
    early.reload();
  };
  useChanges(({ path, isDeleted }) => {
    if (path !== undefined) setDeleted(withPath(deleted, path, isDeleted ?? false));
    reload();
  });
  const found = filter === ""
    ? files
    : matching([...scan.files, ...early.files, ...files], filter, { by, order })
      .filter(({ path }) => !deleted.has(path));
  const pages = useRef(new Map<number, string | undefined>());
  pages.current.set(first, after);
  const turnTo = (next: number, cursor: string | undefined) =>
    goTo({ ...place, first: next, after: isByCursor ? cursor : undefined });
  return {
    ...load,
    reload,
    files: filter === "" ? found : found.slice(0, FILTER_FILES_MAX),
    foundCount: found.length,
    folders: filter === "" && first > 0
      ? []
      : (data?.directories ?? []).filter((name) => contains(name, filter)),
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

/** The text after a pause in typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), FILTER_PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
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

function comparison({ by, order }: Sort): (a: FileRecord, b: FileRecord) => number {
  const keyOf = (file: FileRecord) => by === "size" ? file.size : by === "path" ? file.path : file.updatedAt;
  const sign = order === "asc" ? 1 : -1;
  return (a, b) => {
    const [one, other] = [keyOf(a), keyOf(b)];
    if (one !== other) return one < other ? -sign : sign;
    return a.path < b.path ? -1 : 1;
  };
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
