/** The type by which a file is shown, for extensions that the service's content types do not include. */
import { nameOf } from "../format.ts";
import type { FileRecord } from "../api/files.ts";
import { TEXT_PREVIEW_BYTES_MAX } from "../limits.ts";

/** Types of files that are stored as `application/octet-stream`, by extension. */
const BINARY: Readonly<Record<string, string>> = {
  aac: "audio/aac",
  aif: "audio/aiff",
  aiff: "audio/aiff",
  apng: "image/apng",
  avif: "image/avif",
  flac: "audio/flac",
  heic: "image/heic",
  ico: "image/x-icon",
  jxl: "image/jxl",
  m4a: "audio/mp4",
  mka: "audio/x-matroska",
  mkv: "video/x-matroska",
  oga: "audio/ogg",
  ogg: "audio/ogg",
  ogv: "video/ogg",
  opus: "audio/ogg",
  tif: "image/tiff",
  tiff: "image/tiff",
  wav: "audio/wav",
  wave: "audio/wav",
  weba: "audio/webm",
  webm: "video/webm",
};

/** Types for highlighting files that are stored as `text/plain`, by extension. */
const TEXT: Readonly<Record<string, string>> = {
  geojson: "application/json",
  gpx: "application/xml",
  ipynb: "application/json",
  json5: "application/json",
  jsonc: "application/json",
  jsonl: "application/json",
  kml: "application/xml",
  less: "text/css",
  ndjson: "application/json",
  scss: "text/css",
  svelte: "text/html",
  vue: "text/html",
};

/**
 * Returns the stored type, or the type of the extension if the stored type is only `text/plain` or
 * `application/octet-stream`.
 */
export function shownType({ path, mimeType }: { readonly path: string; readonly mimeType: string }): string {
  const types = mimeType === "application/octet-stream" ? BINARY : mimeType === "text/plain" ? TEXT : {};
  const extension = /[^.]\.([^.]+)$/.exec(nameOf(path))?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(types, extension) ? types[extension] ?? mimeType : mimeType;
}

/** Returns whether type and size allow editing. The content must also be text. */
export function mayBeEdited(record: FileRecord): boolean {
  return previewKind(shownType(record)) === "text" && record.size <= TEXT_PREVIEW_BYTES_MAX;
}

/** Returns null if the bytes are not UTF-8. A byte order mark is kept as content. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export type Kind = "text" | "image" | "pdf" | "audio" | "video" | "binary";

/** Returns how a media type is shown. SVG is text; it is shown as an image on request. */
export function previewKind(mimeType: string): Kind {
  if (mimeType === "application/pdf") return "pdf";
  if (mimeType === "application/zip") return "binary";
  if (mimeType === "image/svg+xml") return "text";
  const [kind] = mimeType.split("/");
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "text";
}
