/** Text for models: numbered lines, cut where they are too long, up to the length of a result. */
import { MCP_LINE_LENGTH_MAX, MCP_TEXT_LENGTH_MAX, PATH_BYTES_MAX } from "../limits.ts";
import type { Provenance } from "../ports/answer.ts";
import type { FileRecord } from "../contract/files.ts";
import { counted, grouped } from "../runtime/counted.ts";
import { escapeHidden } from "../runtime/hidden_characters.ts";
import { isSecondHalf } from "../runtime/surrogates.ts";

/** To the second: `2026-11-20T10:15:30Z`. */
export function shortTime(time: string): string {
  return time.replace(/\.\d+Z$/, "Z");
}

/** `version 7, 1,234 bytes, written 2026-11-20T10:15:30Z`. */
export function describeVersion({ version, size, updatedAt }: FileRecord): string {
  return `version ${version}, ${counted(size, "byte")}, written ${shortTime(updatedAt)}`;
}

/** Text from other clients as a JSON string: its end is unambiguous, and no part of it is invisible. */
export function quoted(text: string): string {
  return escapeHidden(JSON.stringify(text));
}

/** The longest quoted path, in UTF-16 code units: a character of two bytes can become an escape of six. */
export const QUOTED_PATH_LENGTH_MAX = 3 * PATH_BYTES_MAX + 2;

/** Matches a path that could be mistaken for parts of a result: it has `"`, `:`, or a space beside punctuation. */
const LIKE_A_RESULT = /[":]|^\(|^\p{Zs}|\p{Zs}$|[^\p{L}\p{N}\p{M}]\p{Zs}|\p{Zs}[^\p{L}\p{N}\p{M}]/u;

/** The path; quoted where it could be mistaken for more than a path, or has invisible characters. */
export function shownPath(path: string): string {
  return LIKE_A_RESULT.test(path) || escapeHidden(path) !== path ? quoted(path) : path;
}

/** The name that a client gives itself, quoted unless it is one word. */
export function shownActor(actor: string): string {
  return /^[\w.@/+-]+$/.test(actor) ? actor : quoted(actor);
}

/** ` by planner/2.1 in run nightly-42: "note"`, or the parts of it that were recorded; "" where none was. */
export function describeProvenance({ actor, runId, note }: Provenance): string {
  const by = actor === undefined ? "" : ` by ${shownActor(actor)}`;
  const run = runId === undefined ? "" : ` in run ${runId}`;
  return `${by}${run}${note === undefined ? "" : `: ${quoted(note)}`}`;
}

/** ` from notes/plan.md version 2`, without the path where that is the file's own; "" where there is no origin. */
export function describeOrigin(
  from: { readonly path: string; readonly version: number } | undefined,
  path: string | undefined,
): string {
  return from ? ` from ${from.path === path ? "" : `${shownPath(from.path)} `}version ${from.version}` : "";
}

/** The first `length` code units of a text, or one less where that would split a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, isSecondHalf(text, length) ? length - 1 : length);
}

/** Cuts a long line, and notes the cut. `length` is the length of the whole line, if `line` is only its beginning. */
export function cutLine(line: string, max: number, length = line.length): string {
  if (length <= max) return line;
  const note = `${grouped(max)} of ${grouped(length)} characters; grep_files finds the rest`;
  return `${cut(line, max)}… [cut: ${note}]`;
}

/** `%6d`, a tab and the line. */
export function numbered(line: number, text: string): string {
  return `${String(line).padStart(6)}\t${text}`;
}

/** The lines of a result, up to a length. */
export class Lines {
  readonly #lines: string[] = [];
  #length: number;

  /** `reserved` is the room for text other than the lines, `max` that for all of it, in UTF-16 code units. */
  constructor(reserved: number, private readonly max: number = MCP_TEXT_LENGTH_MAX) {
    this.#length = reserved;
  }

  get count(): number {
    return this.#lines.length;
  }

  /** Adds a line of any length. Returns false where there is no room for it. */
  add(line: string): boolean {
    if (this.#length + line.length + 1 > this.max) return false;
    this.#lines.push(line);
    this.#length += line.length + 1;
    return true;
  }

  /** Adds lines until there is no room for one. Returns how many are left. */
  addAll(lines: readonly string[]): number {
    const added = lines.findIndex((line) => !this.add(line));
    return added < 0 ? 0 : lines.length - added;
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}

/** Numbers the lines of a text that arrives in parts. Holds only the part of a line that is shown. */
export class NumberedLines {
  #line = "";
  #length = 0;
  #hasLine = false;
  #isFull = false;

  /** `next` is the number of the first line that is not added yet. */
  constructor(private readonly lines: Lines, public next: number) {}

  /** Takes the next part. Returns false where there is no more room. */
  push(text: string): boolean {
    for (let from = 0; from < text.length && !this.#isFull;) {
      const feed = text.indexOf("\n", from);
      const to = feed < 0 ? text.length : feed;
      this.#take(text, from, to);
      if (feed >= 0) this.#end();
      from = to + 1;
    }
    return !this.#isFull;
  }

  /** Adds the last line; to be called when the text ends, or when the caller stops reading. */
  finish(): void {
    if (this.#hasLine && !this.#isFull) this.#end();
  }

  #take(text: string, from: number, to: number): void {
    // One code unit more than is shown, so that `cut` sees a surrogate pair at the limit.
    const room = MCP_LINE_LENGTH_MAX + 1 - this.#line.length;
    if (room > 0) this.#line += text.slice(from, Math.min(to, from + room));
    this.#length += to - from;
    this.#hasLine = true;
  }

  #end(): void {
    const line = cutLine(this.#line, MCP_LINE_LENGTH_MAX, this.#length);
    this.#isFull = !this.lines.add(numbered(this.next, line));
    if (!this.#isFull) this.next++;
    this.#line = "";
    this.#length = 0;
    this.#hasLine = false;
  }
}

/** Keeps the first lines of a text that fit; `advice` explains how to see the others. */
export function fitLines(text: string, advice: string, reserved = 0): string {
  const given = text.replace(/\n$/, "").split("\n");
  const lines = new Lines(reserved + advice.length + 40);
  for (const line of given) {
    if (lines.add(cutLine(line, MCP_LINE_LENGTH_MAX))) continue;
    return `${lines}\n… ${counted(given.length - lines.count, "more line")}: ${advice}`;
  }
  return `${lines}`;
}
