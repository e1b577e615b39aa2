/** Types and encodings, as far as the model's paths need them. */

export const EXTENSIONS: Readonly<Record<string, string>> = {
  md: "text/markdown",
  json: "application/json",
  png: "image/png",
};

/** Types that are read as base64 whatever their bytes: image (except svg), audio, video, pdf, zip. */
export function isBinaryType(type: string): boolean {
  return /^(image\/(?!svg)|audio|video|application\/(pdf|zip))/.test(type);
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Paths compare byte for byte. */
export function compareUtf8(a: string, b: string): number {
  const [first, second] = [new TextEncoder().encode(a), new TextEncoder().encode(b)];
  for (let i = 0; i < Math.min(first.length, second.length); i++) {
    const difference = (first[i] ?? 0) - (second[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return first.length - second.length;
}

/** Lines with their line feeds; the rest after the last line feed is a line if it is not empty. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
