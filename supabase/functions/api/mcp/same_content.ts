import type { Content } from "../ports/files.ts";

/** Whether two versions are made of the same stored segments: so are a copy, a moved file and a restored version. */
export function sameContent(one: Content, other: Content): boolean {
  const [ids, otherIds] = [one, other].map(({ segments }) => segments.map(({ id }) => id).join());
  return ids === otherIds && one.file.mimeType === other.file.mimeType;
}
