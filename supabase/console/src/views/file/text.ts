/** Bytes as text, without changing any of them. */

/** Null where the bytes are not UTF-8. A byte order mark is content. */
export function decodeText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The text of the first bytes of a larger file: a character or line that was cut is left out. */
export function decodeFirstText(bytes: Uint8Array): string | null {
  const lastBreak = bytes.lastIndexOf(0x0a);
  if (lastBreak >= 0) return decodeText(bytes.subarray(0, lastBreak + 1));
  for (let cut = 0; cut < 4; cut++) {
    const text = decodeText(bytes.subarray(0, bytes.length - cut));
    if (text !== null) return text;
  }
  return null;
}

export type Kind = "text" | "image" | "pdf" | "binary";

/** How a type is shown. SVG is text: as a picture it is shown on request. */
export function previewKind(mimeType: string): Kind {
  if (mimeType === "application/pdf") return "pdf";
  if (mimeType === "image/svg+xml") return "text";
  if (mimeType.startsWith("image/")) return "image";
  return /^(audio|video)\/|^application\/zip$/.test(mimeType) ? "binary" : "text";
}
