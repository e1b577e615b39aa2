import type { Content } from "../ports/files.ts";

/** Whether two versions consist of the same stored segments, as after a copy, a move or a restore. */
export function sameContent(one: Content, other: Content): boolean {
  const [ids, otherIds] = [one, other].map(({ segments }) => segments.map(({ id }) => id).join());
  return ids === otherIds && one.file.mimeType === other.file.mimeType;
}
