/// <reference lib="dom" />
/** The files of a folder: sorted and paged by the service, filtered here and, in a large folder, also by the service. */
import { useEffect, useState } from "preact/hooks";
import { listFiles, type SortField, type SortOrder } from "../../api/files.ts";
import type { FileRecord } from "../../api/records.ts";
import { nameOf } from "../../format.ts";
import { FILES_PER_PAGE, FILTER_PAUSE_MILLISECONDS } from "../../limits.ts";
import { setFolders } from "../../state/folders.ts";
import { useLoad } from "../../state/use_load.ts";
import { cursorBefore } from "./cursor_before.ts";

export interface Sort {
  readonly by: SortField;
  readonly order: SortOrder;
}

interface Page {
  readonly first: number;
  /** The last path of the previous page: with a cursor, every page costs the same. */
  readonly after: string | undefined;
}

const FIRST_PAGE: Page = { first: 0, after: undefined };

export function useListing(projectId: string, directory: string, sort: Sort, filter: string) {
  const [pages, setPages] = useState<readonly Page[]>([FIRST_PAGE]);
  const page = pages.at(-1) ?? FIRST_PAGE;
  const sorting = `${sort.by} ${sort.order}`;
  useEffect(() => setPages([FIRST_PAGE]), [sorting]);
  const byCursor = sort.by === "path" && sort.order === "asc";
  const load = useLoad(`${projectId} ${directory} ${sorting} ${page.first}`, async (signal) => {
    const start = byCursor ? { after: page.after } : { offset: page.first };
    const query = { directory, sortBy: sort.by, sortOrder: sort.order, ...start };
    const list = await listFiles(projectId, query, signal);
    setFolders(projectId, directory, list.directories ?? []);
    return list;
  });
  const { data } = load;
  const [total, setTotal] = useState(0);
  useEffect(() => {
    // With a cursor, the total counts only what comes after it.
    if (data && page.first === 0) setTotal(data.total);
  }, [data]);
  const isLarge = total > FILES_PER_PAGE;
  const elsewhere = useElsewhere(projectId, directory, isLarge ? filter : "");
  const onPage = (data?.files ?? []).filter(({ path }) => contains(nameOf(path), filter));
  return {
    ...load,
    reload: () => {
      load.reload();
      elsewhere.reload();
    },
    files: uniqueByPath([...onPage, ...elsewhere.files]),
    folders: page.first > 0 ? [] : (data?.directories ?? []).filter((name) => contains(name, filter)),
    isFilterPartial: isLarge && filter !== "",
    isSearching: elsewhere.isLoading,
    first: page.first,
    count: data?.files.length ?? 0,
    total,
    next: () => {
      const after = data?.files.at(-1)?.path;
      setPages([...pages, { first: page.first + (data?.files.length ?? 0), after }]);
    },
    previous: () => setPages(pages.length > 1 ? pages.slice(0, -1) : pages),
  };
}

/** Loads the files of the whole folder whose name begins with the filter, with one request after a pause in typing. */
function useElsewhere(projectId: string, directory: string, filter: string) {
  const [settled, setSettled] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSettled(filter), FILTER_PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [filter]);
  const { data, isLoading, reload } = useLoad(`${projectId} ${directory} ${settled}`, async (signal) => {
    if (settled === "") return [];
    const list = await listFiles(projectId, { directory, after: cursorBefore(directory, settled) }, signal);
    return list.files.filter(({ path }) => nameOf(path).startsWith(settled));
  });
  const files = filter === settled ? data ?? [] : [];
  return { files, isLoading: filter !== "" && (isLoading || filter !== settled), reload };
}

function contains(name: string, filter: string): boolean {
  return name.toLowerCase().includes(filter.toLowerCase());
}

function uniqueByPath(files: readonly FileRecord[]): readonly FileRecord[] {
  return [...new Map(files.map((file) => [file.path, file])).values()];
}
