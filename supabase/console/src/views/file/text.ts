/** Decodes bytes as text without loss. */

/** Returns null if the bytes are not UTF-8. A byte order mark is kept as content. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Decodes the first bytes of a larger file without a truncated last line or character. */
export function decodeFirstText(bytes: Uint8Array): string | null {
  const lastBreak = bytes.lastIndexOf(0x0a);
  if (lastBreak >= 0) return decodeText(bytes.subarray(0, lastBreak + 1));
  for (let cut = 0; cut < 4; cut++) {
    const text = decodeText(bytes.subarray(0, bytes.length - cut));
    if (text !== null) return text;
  }
  return null;
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
