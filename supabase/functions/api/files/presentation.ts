/** How a version's bytes are represented in JSON: as text, or as base64. */
import { fail } from "../errors.ts";
import { isBinaryMediaType } from "../contract/media_types.ts";
import type { Content } from "../ports/files.ts";

/** The parts of the content on which its representation depends. */
type Represented = Pick<Content, "segments"> & { readonly file: Pick<Content["file"], "mimeType"> };

/** Whether every segment is UTF-8 by itself. */
export function isText(content: Represented): boolean {
  return content.segments.every((segment) => segment.isText);
}

/** Throws NOT_TEXT for content that is not text. */
export function ensureEditable(content: Represented, version: number): void {
  if (isBinary(content)) fail("NOT_TEXT", "The file is not text, so it cannot be edited.", { version });
}

/** Whether the version is sent as base64 unless the client requests an encoding. */
export function isBinary(content: Represented): boolean {
  return isBinaryMediaType(content.file.mimeType) || !isText(content);
}
