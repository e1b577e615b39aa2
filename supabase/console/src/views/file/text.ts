/** Decodes bytes as text without loss. */

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
