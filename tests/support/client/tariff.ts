/** Computes what writes count towards a quota from the documented tariff, without asking the service. */
/** For each file, deleted or not. Each byte of its path counts, and each directory above it counts the path again. */
const FILE_BYTES = 512;
const PATH_FACTOR = 14;
const DIRECTORY_BYTES = 256;
/** For each version, including tombstones; and for each segment in its list. */
export const TARIFF_VERSION_BYTES = 512;
export const TARIFF_LISTED_SEGMENT_BYTES = 16;
/** For each stored segment; and for each segment listed by a version that has another file's content. */
export const TARIFF_SEGMENT_BYTES = 256;
/** For each byte of the text in the search index. */
export const TARIFF_INDEXED_FACTOR = 6;
/** For each byte of a version's provenance. */
export const TARIFF_PROVENANCE_FACTOR = 2;

/** For each branch, whatever its state. */
export const TARIFF_BRANCH_BYTES = 2048;

export interface WriteCost {
  /** The path, if the file is new. */
  readonly newPath?: string;
  /** Bytes stored, in one segment; 0: nothing is stored. */
  readonly stored: number;
  /** Number of segments that the new version lists. Default 1. */
  readonly listed?: number;
  /** Whether the content comes from another file. */
  readonly isShared?: boolean;
  /** Bytes by which the text in the index grows. Default: `stored`. */
  readonly indexed?: number;
}

export function fileCost(path: string): number {
  const bytes = new TextEncoder().encode(path).length;
  const directories = path.split("/").length - 1;
  return FILE_BYTES + PATH_FACTOR * bytes + directories * (DIRECTORY_BYTES + bytes);
}

/** The bytes stored plus the tariff of the rows. */
export function costOf(
  { newPath, stored, listed = 1, isShared = false, indexed = stored }: WriteCost,
): number {
  return stored + (newPath === undefined ? 0 : fileCost(newPath)) + TARIFF_VERSION_BYTES +
    (TARIFF_LISTED_SEGMENT_BYTES + (isShared ? TARIFF_SEGMENT_BYTES : 0)) * listed +
    (stored === 0 ? 0 : TARIFF_SEGMENT_BYTES) +
    TARIFF_INDEXED_FACTOR * indexed;
}
