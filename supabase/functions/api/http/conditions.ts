/** Conditional requests with entity tags (RFC 9110, section 8.8.3), one for each version and representation; Idempotency-Key. */
import { sha256Hex } from "../runtime/bytes.ts";
import { failField } from "../errors.ts";
import { IDEMPOTENCY_KEY_LENGTH_MAX } from "../limits.ts";
import type { Idempotency, Preconditions } from "../ports/commit.ts";
import type { FileRecord } from "../contract/files.ts";
import type { Segment } from "../ports/segments.ts";

function entityTags(headers: Headers, name: string) {
  const value = headers.get(name);
  if (value === null) return undefined;
  if (value.trim() === "") failField(name, "is empty; send the ETag of a read, or leave the header out");
  return parseEntityTags(value) ?? failField(name, "must be * or a list of entity tags in double quotes");
}

/** The file versions whose tags a precondition header lists, of any representation; undefined without the header. */
function versions(headers: Headers, name: string): string[] | undefined {
  const tags = entityTags(headers, name);
  if (tags === undefined) return undefined;
  if (tags === "*") return ["*"];
  // A quoted star is an ordinary tag that the service never issues.
  return tags.map(versionOfTag).filter((version) => version !== "*");
}

/**
 * The preconditions of a write. Only POST /files, which may create a file, respects If-None-Match. Throws
 * VALIDATION_ERROR; on every route for an empty header, since a client's unset variable must not turn a safe write into
 * an unsafe one.
 */
export function preconditions(headers: Headers, mayCreate: boolean): Preconditions {
  refuseEmpty(headers);
  return {
    ifMatch: versions(headers, "If-Match"),
    ifNoneMatch: mayCreate ? versions(headers, "If-None-Match") : undefined,
  };
}

/** Whether the client has this representation already: If-None-Match, compared weakly (RFC 9110, 13.1.2). */
export function isNotModified(headers: Headers, file: FileRecord, representation: Representation): boolean {
  const tags = entityTags(headers, "If-None-Match");
  if (tags === undefined || tags === "*") return tags === "*";
  return tags.some((tag) => `"${tag}"` === entityTag(file, representation));
}

function refuseEmpty(headers: Headers): void {
  for (const name of ["If-Match", "If-None-Match"]) {
    if (headers.get(name)?.trim() === "") entityTags(headers, name);
  }
}

/** Throws VALIDATION_ERROR for a malformed If-None-Match, or an empty If-Match, before the database is called. */
export function ensureReadConditions(headers: Headers): void {
  refuseEmpty(headers);
  entityTags(headers, "If-None-Match");
}

/** Whether a range may be sent: there is no If-Range, or it has exactly this tag (strong comparison; RFC 9110, 13.1.5). */
export function isRangeFresh(headers: Headers, file: FileRecord): boolean {
  const condition = headers.get("If-Range");
  return condition === null || condition.trim() === entityTag(file, "r");
}

/** The Idempotency-Key, if there is one. Throws VALIDATION_ERROR. */
export function idempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("Idempotency-Key");
  if (key === null) return undefined;
  const isPrintable = /^[\x20-\x7e]+$/.test(key);
  if (!isPrintable || key.length > IDEMPOTENCY_KEY_LENGTH_MAX) {
    failField("Idempotency-Key", `must be 1 to ${IDEMPOTENCY_KEY_LENGTH_MAX} printable ASCII characters`);
  }
  return key;
}

/** The key with the fingerprint of its request: route, path, fields, and the checksums of the content's segments. */
export async function idempotency(
  key: string | undefined,
  route: string,
  path: string,
  fields: unknown,
  content: readonly Pick<Segment, "sha256">[] = [],
): Promise<Idempotency | undefined> {
  if (key === undefined) return undefined;
  const request = JSON.stringify([route, path, fields, content.map((segment) => segment.sha256)]);
  return { key, fingerprint: await sha256Hex(new TextEncoder().encode(request)) };
}

/** `j`: JSON with content; `r`: raw bytes; `m`: the record alone. */
export type Representation = "j" | "r" | "m";

/** `"{fileId}.{version}.{representation}"`, strong. */
export function entityTag(file: { id: string; version: number }, representation: Representation): string {
  return `"${file.id}.${file.version}.${representation}"`;
}

/** A list member, possibly empty, up to a comma or the end. No two parts can match the same blanks: it stays linear. */
const MEMBER = /^[ \t]*(?:(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/;

/**
 * The texts between the quotes of the tags in If-Match or If-None-Match, weak ones included, or "*"; null if malformed.
 */
export function parseEntityTags(value: string): "*" | readonly string[] | null {
  if (value.trim() === "*") return "*";
  const tags: string[] = [];
  let rest = value;
  while (rest !== "") {
    const member = MEMBER.exec(rest);
    if (!member) return null;
    const [whole, opaque] = member;
    if (opaque !== undefined) tags.push(opaque);
    rest = rest.slice(whole.length);
  }
  return tags.length > 0 ? tags : null;
}

/** `{fileId}.{version}` of a tag that the service issued, without the representation; any other tag unchanged. */
export function versionOfTag(tag: string): string {
  return tag.replace(/\.[jrm]$/, "");
}
