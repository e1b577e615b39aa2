/** What writes count towards a quota, worked out from the documented tariff instead of asking the service. */
import {
  TARIFF_DIRECTORY_BYTES,
  TARIFF_FILE_BYTES,
  TARIFF_INDEXED_FACTOR,
  TARIFF_LISTED_SEGMENT_BYTES,
  TARIFF_PATH_FACTOR,
  TARIFF_SEGMENT_BYTES,
  TARIFF_SHARED_SEGMENT_BYTES,
  TARIFF_VERSION_BYTES,
} from "../../../supabase/functions/api/limits.ts";

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
  return TARIFF_FILE_BYTES + TARIFF_PATH_FACTOR * bytes + directories * (TARIFF_DIRECTORY_BYTES + bytes);
}

/** Stored bytes and what the rows count, together. */
export function costOf(
  { newPath, stored, listed = 1, isShared = false, indexed = stored }: WriteCost,
): number {
  return stored + (newPath === undefined ? 0 : fileCost(newPath)) + TARIFF_VERSION_BYTES +
    (TARIFF_LISTED_SEGMENT_BYTES + (isShared ? TARIFF_SHARED_SEGMENT_BYTES : 0)) * listed +
    (stored === 0 ? 0 : TARIFF_SEGMENT_BYTES) +
    TARIFF_INDEXED_FACTOR * indexed;
}
