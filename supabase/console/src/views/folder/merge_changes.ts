/** Applies changes from the feed to the loaded page of a folder. */
import type { FileList, FileRecord, SortField, SortOrder } from "../../api/files.ts";
import { type Change, recordOf } from "../../api/changes.ts";
import { directoryOf } from "../../format.ts";
import { FOLDERS_LISTED_MAX } from "../../limits.ts";

export interface Sort {
  readonly by: SortField;
  readonly order: SortOrder;
}

/** Returns whether a page in this order can begin after a path. */
export function isByPath({ by, order }: Sort): boolean {
  return by === "path" && order === "asc";
}

interface ListedPage {
  readonly directory: string;
  readonly sort: Sort;
  readonly isFirst: boolean;
}

interface Merged {
  readonly list: FileList;
  /** A change whose effect on the page is unknown: the folder may be empty now, and the total may differ. */
  readonly isStale: boolean;
}

/** These operations do not add, move or remove a file. */
const IN_PLACE: readonly string[] = ["append", "overwrite", "edit"];

/** `changes` are oldest first. A change that the list already contains is ignored. */
export function mergeChanges(list: FileList, changes: readonly Change[], page: ListedPage): Merged {
  let merged: Merged = { list, isStale: false };
  for (const change of lastOfEach(changes)) {
    const next = mergeOne(merged.list, change, page);
    merged = { list: next.list, isStale: merged.isStale || next.isStale };
  }
  return merged;
}

function mergeOne(list: FileList, change: Change, page: ListedPage): Merged {
  const { path } = change;
  if (path === undefined) return { list: without(list, ({ id }) => id === change.fileId), isStale: false };
  const directory = directoryOf(path);
  if (directory === page.directory) return mergeFile(list, { ...change, path }, page);
  const start = page.directory === "" ? "" : `${page.directory}/`;
  const [name] = path.startsWith(start) ? path.slice(start.length).split("/") : [];
  if (name === undefined || list.directories === undefined) return { list, isStale: false };
  const isListed = list.directories.includes(name);
  // It may have been the folder's last file.
  if (change.deleted) return { list, isStale: isListed };
  if (isListed || list.directories.length >= FOLDERS_LISTED_MAX) return { list, isStale: false };
  return { list: { ...list, directories: [...list.directories, name].sort() }, isStale: false };
}

function mergeFile(list: FileList, change: Change & { readonly path: string }, page: ListedPage): Merged {
  const known = list.files.find(({ path }) => path === change.path);
  const isWhole = page.isFirst && !list.hasMore;
  if (change.deleted) {
    if (known === undefined) return { list, isStale: !isWhole };
    if (known.id === change.fileId && known.version >= change.version) return { list, isStale: false };
    return { list: without(list, (file) => file === known), isStale: false };
  }
  if (known !== undefined && known.id === change.fileId && known.version >= change.version) {
    return { list, isStale: false };
  }
  const file = recordOf(change);
  const others = list.files.filter((one) => one !== known);
  const isElsewhere = !isOnPage(file, others, list, page);
  if (known === undefined && isElsewhere) return { list, isStale: !IN_PLACE.includes(change.operation) };
  const files = isElsewhere ? others : [...others, file].sort(comparison(page.sort));
  // Sorted by path, the page contains all files between its ends, so a file that is not on it is new.
  const isNew = known === undefined && (isWhole || page.sort.by === "path");
  const isCounted = known !== undefined || isNew || IN_PLACE.includes(change.operation);
  return {
    list: { ...list, files, total: totalWith(list, isNew ? 1 : 0) },
    isStale: isElsewhere || !isCounted,
  };
}

export function comparison({ by, order }: Sort): (a: FileRecord, b: FileRecord) => number {
  const keyOf = (file: FileRecord) => by === "size" ? file.size : by === "path" ? file.path : file.updatedAt;
  const sign = order === "asc" ? 1 : -1;
  return (a, b) => {
    const [one, other] = [keyOf(a), keyOf(b)];
    if (one !== other) return one < other ? -sign : sign;
    return a.path < b.path ? -1 : 1;
  };
}

/** Returns whether the file belongs between the ends of the page, or beyond an end with no further files. */
function isOnPage(
  file: FileRecord,
  files: readonly FileRecord[],
  { hasMore }: FileList,
  { isFirst, sort }: ListedPage,
): boolean {
  const compare = comparison(sort);
  const [first, last] = [files[0], files.at(-1)];
  if (first === undefined || last === undefined) return isFirst && !hasMore;
  return (isFirst || compare(first, file) < 0) && (!hasMore || compare(file, last) < 0);
}

function without(list: FileList, isGone: (file: FileRecord) => boolean): FileList {
  const files = list.files.filter((file) => !isGone(file));
  return files.length === list.files.length
    ? list
    : { ...list, files, total: totalWith(list, files.length - list.files.length) };
}

/** Returns the total of a list after `more` files were added, or removed if negative. An inexact total stays. */
export function totalWith({ total = null, totalIsExact }: FileList, more: number): number | null {
  return total === null || totalIsExact === false ? total : total + more;
}

function lastOfEach(changes: readonly Change[]): readonly Change[] {
  return [...new Map(changes.map((change) => [change.path ?? change.fileId, change])).values()];
}
