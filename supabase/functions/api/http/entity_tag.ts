/** Entity tags (RFC 9110 section 8.8.3), one for each version and representation. */

/** `j`: JSON with content; `r`: raw bytes; `m`: the record alone. */
export type Representation = "j" | "r" | "m";

/** `"{fileId}.{version}.{representation}"`, strong. */
export function entityTag(file: { id: string; version: number }, representation: Representation): string {
  return `"${file.id}.${file.version}.${representation}"`;
}

export interface EntityTag {
  /** The text between the quotes. */
  readonly opaque: string;
  readonly isWeak: boolean;
}

/** A list member, possibly empty, up to a comma or the end. No two parts can match the same blanks: it stays linear. */
const MEMBER = /^[ \t]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/;

/** The members of If-Match or If-None-Match, or "*"; null if the value is malformed. */
export function parseEntityTags(value: string): "*" | readonly EntityTag[] | null {
  if (value.trim() === "*") return "*";
  const tags: EntityTag[] = [];
  let rest = value;
  while (rest !== "") {
    const member = MEMBER.exec(rest);
    if (!member) return null;
    const [whole, weak, opaque] = member;
    if (opaque !== undefined) tags.push({ opaque, isWeak: weak !== undefined });
    rest = rest.slice(whole.length);
  }
  return tags.length > 0 ? tags : null;
}

/** `{fileId}.{version}` of a tag that the service issued, without the representation; any other tag unchanged. */
export function versionOfTag(tag: EntityTag): string {
  return tag.opaque.replace(/\.[jrm]$/, "");
}
