/** Unified diffs, between two versions, and of the change that an edit would make. */
import type { DiffRecord } from "../contract/files.ts";
import { fail } from "../errors.ts";
import { DIFF_BYTES_MAX, DIFF_CONTEXT_LINES } from "../limits.ts";
import { type Change, lineAt, lineChanges, lineCount, type Lines, splitLines } from "./line_changes.ts";
import type { Comparison, Side } from "../ports/files.ts";
import { Work } from "../runtime/work.ts";
import { isBinary } from "./presentation.ts";
import { readText, type SegmentSource } from "./read_segments.ts";

type Diff = Pick<DiffRecord, "diff" | "additions" | "deletions">;

/** Throws DIFF_TOO_LARGE for a side over DIFF_BYTES_MAX. */
export function ensureDiffable(sizeBytes: number): void {
  if (sizeBytes <= DIFF_BYTES_MAX) return;
  fail("DIFF_TOO_LARGE", "One of the versions is too large to compare.", {
    limitBytes: DIFF_BYTES_MAX,
    sizeBytes,
  });
}

/** The text of one side; "" for null. Throws NOT_TEXT and DIFF_TOO_LARGE. */
export async function readSide(source: SegmentSource, side: Side | null): Promise<string> {
  if (side === null) return "";
  if (isBinary({ file: side, segments: side.segments })) {
    fail("NOT_TEXT", "Binary content cannot be compared.");
  }
  ensureDiffable(side.size);
  return await readText(source, side.segments);
}

/** The diff between two versions of the file at `path`, or of that and the file at `toPath`. Throws what `readSide` throws. */
export async function diffSides(
  source: SegmentSource,
  path: string,
  { before, after }: Pick<Comparison, "before" | "after">,
  work?: Work,
  toPath?: string,
): Promise<Diff> {
  const [old, now] = await Promise.all([readSide(source, before), readSide(source, after)]);
  return await diffTexts(path, old, now, work, toPath);
}

/** The diff between the text of the file at `path` and that of the file at `toPath`, by default the same. */
export async function diffTexts(
  path: string,
  before: string,
  after: string,
  work = new Work(),
  toPath = path,
): Promise<Diff> {
  if (before === after) return { diff: "", additions: 0, deletions: 0 };
  const old = await splitLines(before, work);
  const now = await splitLines(after, work);
  const changes = await lineChanges(old, now, work);
  const text = new DiffText(work, `--- ${quoteName(path)}\n+++ ${quoteName(toPath)}\n`);
  for (const hunk of hunksOf(changes)) await writeHunk(text, old, now, hunk);
  return {
    diff: text.finish(),
    additions: changes.reduce((sum, { newFrom, newTo }) => sum + newTo - newFrom, 0),
    deletions: changes.reduce((sum, { oldFrom, oldTo }) => sum + oldTo - oldFrom, 0),
  };
}

/** Groups changes whose lines of context touch or overlap. */
function hunksOf(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = [];
  let last: Change | undefined;
  for (const change of changes) {
    const isNear = last && change.oldFrom - last.oldTo <= 2 * DIFF_CONTEXT_LINES;
    if (isNear) hunks.at(-1)?.push(change);
    else hunks.push([change]);
    last = change;
  }
  return hunks;
}

async function writeHunk(text: DiffText, old: Lines, now: Lines, changes: readonly Change[]): Promise<void> {
  const [first, last] = [changes[0], changes.at(-1)];
  if (!first || !last) return;
  const lead = Math.min(DIFF_CONTEXT_LINES, first.oldFrom);
  const trail = Math.min(DIFF_CONTEXT_LINES, lineCount(old) - last.oldTo);
  const oldFrom = first.oldFrom - lead;
  text.write(
    `@@ -${range(oldFrom, last.oldTo + trail)} +${range(first.newFrom - lead, last.newTo + trail)} @@\n`,
  );
  let at = oldFrom;
  for (const change of changes) {
    await text.writeLines(" ", old, at, change.oldFrom);
    await text.writeLines("-", old, change.oldFrom, change.oldTo);
    await text.writeLines("+", now, change.newFrom, change.newTo);
    at = change.oldTo;
  }
  await text.writeLines(" ", old, at, at + trail);
}

/** Lines `from` to `to` (exclusive, from 0) in the form of a hunk's header, which names the line before an empty range. */
function range(from: number, to: number): string {
  return `${to > from ? from + 1 : from},${to - from}`;
}

/** Units of work for each line, in addition to its length. */
const WRITE_UNITS = 32;
/** Length of the parts from which the text is joined at the end. */
const PART_LENGTH = 65_536;

/** A text that is joined in parts: joining a million lines at once would hold the thread for too long. */
class DiffText {
  readonly #parts: string[] = [];
  #lines: string[];
  #length = 0;

  constructor(private readonly work: Work, start: string) {
    this.#lines = [start];
  }

  write(text: string): void {
    this.#lines.push(text);
    this.#length += text.length;
    if (this.#length < PART_LENGTH) return;
    this.#parts.push(this.#lines.join(""));
    this.#lines = [];
    this.#length = 0;
  }

  async writeLines(sign: string, lines: Lines, from: number, to: number): Promise<void> {
    for (let index = from; index < to; index++) {
      const line = lineAt(lines, index);
      this.write(sign + line);
      if (!line.endsWith("\n")) this.write("\n\\ No newline at end of file\n");
      if (this.work.add(WRITE_UNITS + line.length)) await this.work.pause();
    }
  }

  finish(): string {
    return [...this.#parts, ...this.#lines].join("");
  }
}

/** The letters of escapes in C: of the bytes from 7, and of those that stand for themselves. */
const ESCAPES = new Map([..."abtnvfr"].map((letter, index) => [7 + index, letter]));
for (const letter of '"\\') ESCAPES.set(letter.charCodeAt(0), letter);

/** A file name as `diff` and `git` write it: quoted as a string in C where it has special characters. */
function quoteName(name: string): string {
  if (/^[ !#-[\]-~]*$/.test(name)) return name;
  const quoted = Array.from(new TextEncoder().encode(name), (byte) => {
    const letter = ESCAPES.get(byte);
    if (letter !== undefined) return `\\${letter}`;
    return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  });
  return `"${quoted.join("")}"`;
}
