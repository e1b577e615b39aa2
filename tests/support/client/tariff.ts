/** What writes count towards a quota, worked out from the documented tariff instead of asking the service. */
/** Each file, deleted or not; each byte of its path; and each directory above it, which counts the path as well. */
const FILE_BYTES = 512;
const PATH_FACTOR = 14;
const DIRECTORY_BYTES = 256;
/** Each version, deletions included; and each segment in its list. */
export const TARIFF_VERSION_BYTES = 512;
export const TARIFF_LISTED_SEGMENT_BYTES = 16;
/** Each segment that is stored, and each one in the list of a version with the content of another file. */
export const TARIFF_SEGMENT_BYTES = 256;
/** Each byte of the text that the search index has. */
export const TARIFF_INDEXED_FACTOR = 6;
/** Each byte of the provenance of a version. */
export const TARIFF_PROVENANCE_FACTOR = 2;

export interface WriteCost {
  /** Of a file that is new. */
  readonly newPath?: string;
  /** Bytes that are stored, in one segment. 0: nothing is stored. */
  readonly stored: number;
  /** Segments of the new version. Default 1. */
  readonly listed?: number;
  /** Whether the content is from another file. */
  readonly isShared?: boolean;
  /** By how much the text in the index grows. Default: what is stored. */
  readonly indexed?: number;
}

export function fileCost(path: string): number {
  const bytes = new TextEncoder().encode(path).length;
  const directories = path.split("/").length - 1;
  return FILE_BYTES + PATH_FACTOR * bytes + directories * (DIRECTORY_BYTES + bytes);
}

/** Stored bytes and what the rows count, together. */
export function costOf(
  { newPath, stored, listed = 1, isShared = false, indexed = stored }: WriteCost,
): number {
  return stored + (newPath === undefined ? 0 : fileCost(newPath)) + TARIFF_VERSION_BYTES +
    (TARIFF_LISTED_SEGMENT_BYTES + (isShared ? TARIFF_SEGMENT_BYTES : 0)) * listed +
    (stored === 0 ? 0 : TARIFF_SEGMENT_BYTES) +
    TARIFF_INDEXED_FACTOR * indexed;
}
