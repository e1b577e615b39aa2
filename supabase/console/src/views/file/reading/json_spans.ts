/**
 * Finds the parts of a JSON text. Values are shown exactly as written: JavaScript objects would lose digits of numbers, the
 * order of keys, and duplicate keys.
 */

/** A member of an object or an element of an array. Its end is after its last character. */
export interface Span {
  /** Position of the key with its quotes; -1 in an array. */
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Returns the first `max` parts of the object or array that begins at `start`. The text must be valid JSON. */
export function spansIn(text: string, start: number, max: number): readonly Span[] {
  const spans: Span[] = [];
  const isObject = text[start] === "{";
  let at = skipSpace(text, start + 1);
  while (at < text.length && text[at] !== "}" && text[at] !== "]" && spans.length < max) {
    const keyStart = isObject ? at : -1;
    const keyEnd = isObject ? endOfString(text, at) : -1;
    // Skips the colon.
    if (isObject) at = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, at);
    spans.push({ keyStart, keyEnd, start: at, end });
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return spans;
}

/** Returns the span of the whole text's value. */
export function rootSpan(text: string): Span {
  const start = skipSpace(text, 0);
  return { keyStart: -1, keyEnd: -1, start, end: text.trimEnd().length };
}

/** Returns `object`, `array`, or the kind of a value without parts. */
export function kindAt(text: string, start: number): "object" | "array" | "string" | "number" | "literal" {
  const first = text[start] ?? "";
  if (first === "{") return "object";
  if (first === "[") return "array";
  if (first === `"`) return "string";
  return first === "-" || (first >= "0" && first <= "9") ? "number" : "literal";
}

/** Returns the decoded text of a string, and any other value as written. */
export function textOf(text: string, start: number, end: number): string {
  const written = text.slice(start, end);
  return written.startsWith(`"`) ? String(JSON.parse(written)) : written;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
  }
  return at;
}

function endOfValue(text: string, from: number): number {
  const kind = kindAt(text, from);
  if (kind === "string") return endOfString(text, from);
  if (kind === "object" || kind === "array") return endOfContainer(text, from);
  let at = from;
  while (at < text.length && !/[,\]}\s]/.test(text[at] ?? "")) at++;
  return at;
}

/** `from` is the position of the opening quote. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf(`"`, from + 1); at >= 0; at = text.indexOf(`"`, at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}

function endOfContainer(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth++;
    else if ((code === 0x7d || code === 0x5d) && --depth === 0) return at + 1;
  }
  return text.length;
}
