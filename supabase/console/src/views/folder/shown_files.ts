/** The pages of a folder that are shown, one below the other: what is scrolled to is added, and any page can be renewed. */
import type { FileList, FileRecord } from "../../api/files.ts";
import { comparison, type Sort } from "./merge_changes.ts";

/** Where a page begins. */
export interface PageStart {
  /** Number of files before it. */
  readonly first: number;
  /** The last path before it, where that is known. */
  readonly after?: string | undefined;
}

/** A part of a folder without gaps. `hasMore` and `total` are of the folder. */
export interface ShownFiles extends PageStart {
  readonly list: FileList;
}

/** Whether a page that begins there is a part of what is shown. */
export function isShown({ first, list }: ShownFiles, start: PageStart): boolean {
  return start.first === first || (start.first > first && start.first < first + list.files.length);
}

/** Takes in a page that was loaded: in the place of what was shown there, below it, or above it. */
export function withPage(shown: ShownFiles | null, page: FileList, start: PageStart, sort: Sort): ShownFiles {
  if (shown === null) return { ...start, list: page };
  // A page after a cursor has no total of its own.
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

/** Where the page begins that has the file, counted from the first one that is shown. */
export function pageOf({ first, after, list }: ShownFiles, index: number, filesPerPage: number): PageStart {
  const offset = Math.floor(Math.max(0, index) / filesPerPage) * filesPerPage;
  return offset === 0 ? { first, after } : { first: first + offset, after: list.files[offset - 1]?.path };
}
