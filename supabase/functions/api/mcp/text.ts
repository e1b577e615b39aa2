/** Text for models: numbered lines, cut where they are too long, and no more than a result may hold. */
import { MCP_LINE_LENGTH_MAX, MCP_TEXT_LENGTH_MAX, PATH_BYTES_MAX } from "../limits.ts";
import type { Provenance } from "../ports/answer.ts";
import type { FileRecord } from "../contract/files.ts";
import { escapeHidden } from "../runtime/hidden_characters.ts";

/** How an agent gets at what no tool shows: the one place that says so. */
export const OTHER_WAYS = "create_link gives a curl command that downloads it.";

/** `1,234`. */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 line`, `2 lines`. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : several}`;
}

/** To the second: `2026-11-20T10:15:30Z`. */
export function shortTime(time: string): string {
  return time.replace(/\.\d+Z$/, "Z");
}

/** `version 7, 1,234 bytes, written 2026-11-20T10:15:30Z`. */
export function describeVersion({ version, size, updatedAt }: FileRecord): string {
  return `version ${version}, ${counted(size, "byte")}, written ${shortTime(updatedAt)}`;
}

/** What others wrote, as a JSON string: it ends where the quotation mark does, and all of it can be seen. */
export function quoted(text: string): string {
  return escapeHidden(JSON.stringify(text));
}

/** In UTF-16 code units: a character of two bytes can become an escape of six. */
export const QUOTED_PATH_LENGTH_MAX = 3 * PATH_BYTES_MAX + 2;

/** A space beside anything but letters and digits, as between the parts of a result, or what ends and quotes a name. */
const LIKE_A_RESULT = /[":]|^\(|^\p{Zs}|\p{Zs}$|[^\p{L}\p{N}\p{M}]\p{Zs}|\p{Zs}[^\p{L}\p{N}\p{M}]/u;

/** A path as it is; quoted where it could be taken for more than a path, or has characters that nobody sees. */
export function shownPath(path: string): string {
  return LIKE_A_RESULT.test(path) || escapeHidden(path) !== path ? quoted(path) : path;
}

/** What a client calls itself, quoted unless it is one word. */
export function shownActor(actor: string): string {
  return /^[\w.@/+-]+$/.test(actor) ? actor : quoted(actor);
}

/** ` by planner/2.1 in run nightly-42: "note"`, as far as it was said; "" where nothing was. */
export function describeProvenance({ actor, runId, note }: Provenance): string {
  return `${actor === undefined ? "" : ` by ${shownActor(actor)}`}${
    runId === undefined ? "" : ` in run ${runId}`
  }${note === undefined ? "" : `: ${quoted(note)}`}`;
}

/** The beginning of a text, not ending within a surrogate pair. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  const isWithin = (text.charCodeAt(length) & 0xfc00) === 0xdc00;
  return text.slice(0, isWithin ? length - 1 : length);
}

/** A line that is cut says so. `length`: of the whole line, where `line` is only its beginning. */
export function cutLine(line: string, max: number, length = line.length): string {
  if (length <= max) return line;
  return `${cut(line, max)}… [cut: ${grouped(max)} of ${
    grouped(length)
  } characters; grep_files finds the rest]`;
}

/** `%6d`, a tab and the line. */
export function numbered(line: number, text: string): string {
  return `${String(line).padStart(6)}\t${text}`;
}

/** Lines of a result, as long as there is room. */
export class Lines {
  readonly #lines: string[] = [];
  #length: number;

  /** `reserved`: for what is said besides the lines, in UTF-16 code units. */
  constructor(reserved: number) {
    this.#length = reserved;
  }

  get count(): number {
    return this.#lines.length;
  }

  /** Adds a line of any length. Returns false where there is no room for it. */
  add(line: string): boolean {
    if (this.#length + line.length + 1 > MCP_TEXT_LENGTH_MAX) return false;
    this.#lines.push(line);
    this.#length += line.length + 1;
    return true;
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}

/** The lines of a text that comes in parts: only what is shown of a line is held. */
export class NumberedLines {
  #line = "";
  #length = 0;
  #hasLine = false;
  #isFull = false;

  constructor(private readonly lines: Lines, private next: number) {}

  /** The number of the first line that is not complete yet. */
  get nextLine(): number {
    return this.next;
  }

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

  /** The text has ended, or no more of it is looked at. */
  finish(): void {
    if (this.#hasLine && !this.#isFull) this.#end();
  }

  #take(text: string, from: number, to: number): void {
    // One more than is shown, so that it is known where a surrogate pair would be cut.
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

/** A text of several lines, of which as many as there is room for are kept; `advice` says how to see the others. */
export function fitLines(text: string, advice: string, reserved = 0): string {
  const given = text.replace(/\n$/, "").split("\n");
  const lines = new Lines(reserved + advice.length + 40);
  for (const line of given) {
    if (lines.add(cutLine(line, MCP_LINE_LENGTH_MAX))) continue;
    return `${lines}\n… ${counted(given.length - lines.count, "more line")}: ${advice}`;
  }
  return `${lines}`;
}
