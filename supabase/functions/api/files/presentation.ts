/** How a version's bytes are shown in JSON: as text, or as base64. */
import { isBinaryMediaType } from "./media_type.ts";
import type { Content } from "../ports/files.ts";

/** Whether every piece is UTF-8 by itself. */
export function isText(content: Content): boolean {
  return content.segments.every((segment) => segment.isText);
}

/** Whether the version comes as base64 when nobody asks for one or the other. */
export function isBinary(content: Content): boolean {
  return isBinaryMediaType(content.file.mimeType) || !isText(content);
}
