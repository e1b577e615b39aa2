/** The loaded pages of a folder as one list: scrolling adds pages, and any page can be reloaded. */
import type { FileList, FileRecord } from "../../api/files.ts";
import { comparison, type Sort } from "./merge_changes.ts";

/** The place at which a page begins. */
export interface PageStart {
  /** Number of files before it. */
  readonly first: number;
  /** The last path before it, if known. */
  readonly after?: string | undefined;
}

/** Consecutive files of a folder. `hasMore` and `total` apply to the whole folder. */
export interface ShownFiles extends PageStart {
  readonly list: FileList;
}

/** Returns whether a page with this start is part of the list. */
export function isShown({ first, list }: ShownFiles, start: PageStart): boolean {
  return start.first === first || (start.first > first && start.first < first + list.files.length);
}

/** Adds a loaded page: in place of the files shown there, below the list, or above it. */
export function withPage(shown: ShownFiles | null, page: FileList, start: PageStart, sort: Sort): ShownFiles {
  if (shown === null) return { ...start, list: page };
  // The service returns no total for a page after a cursor.
  const { total, totalIsExact } = page.total === null ? shown.list : page;
  const paths = new Set(page.files.map(({ path }) => path));
  const isOther = ({ path }: FileRecord) => !paths.has(path);
  const { files, hasMore } = shown.list;
  const compare = comparison(sort);
  const [top, last] = [page.files[0], page.files.at(-1)];
  const isAbove = (file: FileRecord) => isOther(file) && (top === undefined || compare(file, top) < 0);
  const isBelow = (file: FileRecord) => isOther(file) && (last === undefined || compare(last, file) < 0);
  if (start.first < shown.first) {
    return {
      ...start,
      list: { ...page, files: [...page.files, ...files.filter(isBelow)], hasMore, total, totalIsExact },
    };
  }
  const known = files.findIndex(({ path }) => path === start.after) + 1;
  const from = start.after === undefined || known === 0 ? start.first - shown.first : known;
  const before = files.slice(0, from).filter(isAbove);
  const after = page.hasMore ? files.slice(from).filter(isBelow) : [];
  const list = {
    ...page,
    total,
    totalIsExact,
    files: [...before, ...page.files, ...after],
    hasMore: after.length > 0 ? hasMore : page.hasMore,
  };
  return { first: shown.first, after: shown.after, list };
}

/** Returns the start of the page with the file at `index`, counted from the first file of the list. */
export function pageOf({ first, after, list }: ShownFiles, index: number, filesPerPage: number): PageStart {
  const offset = Math.floor(Math.max(0, index) / filesPerPage) * filesPerPage;
  return offset === 0 ? { first, after } : { first: first + offset, after: list.files[offset - 1]?.path };
}
