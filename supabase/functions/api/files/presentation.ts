/** How a version's bytes are represented in JSON: as text, or as base64. */
import { isBinaryMediaType } from "./media_type.ts";
import type { Content } from "../ports/files.ts";

/** Whether every segment is UTF-8 by itself. */
export function isText(content: Content): boolean {
  return content.segments.every((segment) => segment.isText);
}

/** Whether the version is sent as base64 unless the client requests an encoding. */
export function isBinary(content: Content): boolean {
  return isBinaryMediaType(content.file.mimeType) || !isText(content);
}
