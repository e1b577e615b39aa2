/**
 * Reads a JSON body in which one string may be very long. The reader extracts that string while the body arrives and
 * leaves `""` in its place; `JSON.parse` parses the short text that remains. So the grammar is that of `JSON.parse`,
 * and the whole body is never in memory.
 */
import { fail } from "../errors.ts";
import {
  CONTENT_LENGTH_MAX,
  JSON_DEPTH_MAX,
  JSON_FIELDS_BYTES_MAX,
  JSON_LONG_STRING_BYTES,
  JSON_VALUES_MAX,
} from "../limits.ts";
import { concatenate } from "../runtime/bytes.ts";
import { Work } from "../runtime/work.ts";
import { ContentText, JsonStringParser } from "./json_string.ts";

export interface JsonBodyOptions {
  /** Longest body in bytes; beyond it 413 `CONTENT_TOO_LARGE`. */
  readonly limitBytes: number;
  /** The field of the outermost object that becomes a ContentText if it is a string. By default none. */
  readonly streamedField?: string | null;
  /** Longest such string to store, in UTF-16 code units; a longer one is only measured. */
  readonly maxStreamedLength?: number;
  /** Longest text without that string, in bytes; beyond it 413 `CONTENT_TOO_LARGE`. */
  readonly fieldsBytesMax?: number;
  /** Longest of the other strings, in bytes; beyond it 413 `CONTENT_TOO_LARGE`. */
  readonly stringBytesMax?: number;
  /** Other strings over this many bytes are parsed one by one. */
  readonly longStringBytes?: number;
  /** Called with the bytes of memory that the body holds; if it returns a promise, the reader awaits it. */
  readonly hold?: (bytes: number) => Promise<void> | undefined;
}

const DEFAULTS = {
  streamedField: null,
  maxStreamedLength: CONTENT_LENGTH_MAX,
  fieldsBytesMax: JSON_FIELDS_BYTES_MAX,
  stringBytesMax: JSON_FIELDS_BYTES_MAX,
  longStringBytes: JSON_LONG_STRING_BYTES,
  hold: () => undefined,
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const EMPTY_STRING = Uint8Array.of(QUOTE, QUOTE);

/**
 * Reads a body to its end. The result equals `JSON.parse` of the whole strictly decoded body: among duplicate names the
 * last one wins. Throws 400 `INVALID_JSON` (not JSON, not UTF-8, nested over JSON_DEPTH_MAX) and 413
 * `CONTENT_TOO_LARGE` (too long, or more than JSON_VALUES_MAX names and values).
 */
export async function readJsonBody(
  body: AsyncIterable<Uint8Array>,
  options: JsonBodyOptions,
): Promise<unknown> {
  const scanner = new BodyScanner({ ...DEFAULTS, ...options });
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > options.limitBytes) throwTooLarge("The body is", options.limitBytes);
    scanner.push(chunk);
    await options.hold?.(scanner.heldBytes);
  }
  return await scanner.finish();
}

/** The offsets of a string and its quotes in the remaining text; `to` is exclusive. */
interface Place {
  readonly from: number;
  readonly to: number;
}

/** Tracks strings and nesting just far enough to find the streamed field. */
class BodyScanner {
  readonly #options: Required<JsonBodyOptions>;
  /** The body without the streamed string. */
  #rest = new Uint8Array(1024);
  #restLength = 0;
  /** The approximate number of names and values so far, which cost JSON.parse time in addition to the bytes. */
  #values = 0;
  #depth = 0;
  #isInString = false;
  #isEscape = false;
  /** Whether a value of the outermost object comes next. */
  #isValueNext = false;
  #isStreamedName = false;
  #string: ContentText | null = null;
  #isStreaming = false;
  readonly #longStrings: Place[] = [];
  /** The offset of the string that is being read, and whether the latest string was long. */
  #stringStart = 0;
  #isLong = false;

  constructor(options: Required<JsonBodyOptions>) {
    this.#options = options;
  }

  get heldBytes(): number {
    return this.#restLength + (this.#string?.heldBytes ?? 0);
  }

  push(chunk: Uint8Array): void {
    let kept = 0;
    let at = 0;
    while (at >= 0 && at < chunk.length) {
      if (this.#isStreaming) {
        at = kept = this.#string?.push(chunk, at) ?? -1;
        this.#isStreaming = at < 0;
      } else if (this.#isInString) {
        at = this.#skipString(chunk, at);
        if (!this.#isInString) this.#endString(this.#restLength + at - kept);
        if (this.#isInString || this.#depth !== 1 || this.#isValueNext) continue;
        this.#keep(chunk, kept, at);
        kept = at;
        this.#endName();
      } else {
        const byte = chunk[at++];
        if (byte === QUOTE && this.#depth === 1 && this.#isValueNext && this.#isStreamedName) {
          this.#keep(chunk, kept, at - 1);
          this.#keep(EMPTY_STRING, 0, 2);
          this.#string = new ContentText(this.#options.maxStreamedLength);
          this.#isStreaming = true;
          kept = at;
        } else {
          this.#structure(byte, this.#restLength + at - 1 - kept);
        }
      }
    }
    if (kept >= 0) this.#keep(chunk, kept, chunk.length);
  }

  async finish(): Promise<unknown> {
    // If the body ended within the streamed string, the remaining text has no closing brace and does not parse.
    const rest = this.#rest.subarray(0, this.#restLength);
    const fields = await parseInParts(rest, this.#longStrings, this.#options.stringBytesMax);
    if (this.#string) Reflect.set(Object(fields), this.#options.streamedField ?? "", this.#string);
    return fields;
  }

  /** Skips to the end of a string that is kept. Returns the index after its closing quote, or the chunk's end. */
  #skipString(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#isEscape) {
        this.#isEscape = false;
      } else if (byte === BACKSLASH) {
        this.#isEscape = true;
      } else if (byte === QUOTE) {
        this.#isInString = false;
        return at + 1;
      }
    }
    return chunk.length;
  }

  /** Handles a byte outside of strings; `place` is its index in the remaining text. */
  #structure(byte: number | undefined, place: number): void {
    if (byte === QUOTE) {
      this.#isInString = true;
      this.#stringStart = place;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      this.#depth++;
      if (this.#depth > JSON_DEPTH_MAX) {
        fail("INVALID_JSON", `The body is nested more than ${JSON_DEPTH_MAX} levels deep.`);
      }
      this.#countValue();
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      this.#depth--;
    } else if (byte === COLON || byte === COMMA) {
      this.#countValue();
      // That string was a name: names are parsed with the rest.
      if (byte === COLON && this.#isLong) this.#longStrings.pop();
      this.#isLong = false;
      if (this.#depth === 1) this.#isValueNext = byte === COLON;
    }
  }

  /** Handles the end of a string of the remaining text, before `to`. */
  #endString(to: number): void {
    const from = this.#stringStart;
    this.#isLong = to - from > this.#options.longStringBytes;
    if (this.#isLong) this.#longStrings.push({ from, to });
  }

  #countValue(): void {
    if (++this.#values <= JSON_VALUES_MAX) return;
    fail("CONTENT_TOO_LARGE", `The body has more than ${JSON_VALUES_MAX} names and values.`, {
      rule: "json_values",
      limit: JSON_VALUES_MAX,
    });
  }

  /** Handles the end of a name of the outermost object. */
  #endName(): void {
    const quoted = this.#rest.subarray(this.#stringStart, this.#restLength);
    const { streamedField } = this.#options;
    if (streamedField === null) return;
    // An escaped character of the name takes at most six bytes.
    this.#isStreamedName = quoted.length <= 6 * streamedField.length + 2 && parse(quoted) === streamedField;
    // Among fields with this name the last one wins.
    if (this.#isStreamedName) this.#string = null;
  }

  #keep(bytes: Uint8Array, from: number, to: number): void {
    const length = this.#restLength + to - from;
    const { streamedField, fieldsBytesMax } = this.#options;
    if (length > fieldsBytesMax) {
      const other = streamedField === null ? "" : ` other than \`${streamedField}\``;
      throwTooLarge(`The fields${other} are`, fieldsBytesMax);
    }
    if (length > this.#rest.length) {
      this.#rest = new Uint8Array(this.#rest.buffer.transfer(Math.max(length, 2 * this.#rest.length)));
    }
    this.#rest.set(bytes.subarray(from, to), this.#restLength);
    this.#restLength = length;
  }
}

/** Long strings are parsed in slices of this many bytes. */
const SLICE_BYTES = 1024 * 1024;
/** Units of work for each byte of a string that is parsed. */
const PARSE_UNITS = 3;

/**
 * Like `parse`, which would hold the thread for 0.2 s for 24 MB: parses long strings by themselves, in slices, and
 * replaces them with short tokens while the rest is parsed. The rest may have at most JSON_FIELDS_BYTES_MAX.
 */
async function parseInParts(
  bytes: Uint8Array,
  longStrings: readonly Place[],
  stringBytesMax: number,
): Promise<unknown> {
  const longBytes = longStrings.reduce((total, { from, to }) => total + to - from, 0);
  if (bytes.length - longBytes > JSON_FIELDS_BYTES_MAX) {
    throwTooLarge("The fields other than long strings are", JSON_FIELDS_BYTES_MAX);
  }
  if (longStrings.length === 0) return parse(bytes);
  const work = new Work();
  const token = crypto.randomUUID();
  const values = new Map<unknown, unknown>();
  const parts: Uint8Array[] = [];
  let kept = 0;
  for (const { from, to } of longStrings) {
    if (to - from > stringBytesMax) throwTooLarge("A string is", stringBytesMax);
    const stand = `${token}${values.size}`;
    values.set(stand, await parseLong(bytes.subarray(from, to), work));
    parts.push(bytes.subarray(kept, from), new TextEncoder().encode(`"${stand}"`));
    kept = to;
  }
  await work.pause();
  return parse(
    concatenate([...parts, bytes.subarray(kept)]),
    (_, value) => typeof value === "string" && values.has(value) ? values.get(value) : value,
  );
}

/** Parses a long string with its quotes. */
async function parseLong(bytes: Uint8Array, work: Work): Promise<string> {
  const parser = new JsonStringParser();
  for (let from = 1; from < bytes.length; from += SLICE_BYTES) {
    const slice = bytes.subarray(from, from + SLICE_BYTES);
    if (work.add(PARSE_UNITS * slice.length)) await work.pause();
    parser.push(slice, 0);
  }
  return parser.text;
}

/** `JSON.parse` of strictly decoded UTF-8, in which a byte order mark is not whitespace (RFC 8259 section 8.1). */
function parse(bytes: Uint8Array, reviver?: (name: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), reviver);
  } catch {
    return fail("INVALID_JSON", "The body is not JSON in UTF-8.");
  }
}

function throwTooLarge(what: string, limitBytes: number): never {
  fail("CONTENT_TOO_LARGE", `${what} longer than ${limitBytes} bytes.`, { limitBytes });
}
