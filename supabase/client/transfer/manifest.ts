/**
 * The manifest of an export: one line of JSON for each version, in order of path and number. `stored` names the file
 * with the version's bytes; a tombstone has none.
 */
import { createReadStream } from "node:fs";
import { checkPath } from "../../functions/api/http/path.ts";
import { Failure } from "../failure.ts";
import { isObject, parsed } from "../library/answer.ts";
import { messageOf } from "../library/errors.ts";
import type { Version } from "../library/records.ts";
import { MANIFEST_LINE_BYTES_MAX } from "../limits.ts";

export const MANIFEST = "manifest.jsonl";
/** The name of the manifest while the export is not complete. */
export const PARTIAL_MANIFEST = "manifest.jsonl.part";

export interface ManifestLine extends Omit<Version, "cursor" | "redactedAt"> {
  readonly path: string;
  readonly type?: string | undefined;
  readonly sha256?: string | undefined;
  readonly stored?: string | undefined;
  /** A version whose content was erased. */
  readonly redacted?: true | undefined;
}

/** A line of a version with bytes. */
export type StoredLine = ManifestLine & { readonly stored: string; readonly sha256: string };

export function isStored(line: ManifestLine): line is StoredLine {
  return line.stored !== undefined && line.sha256 !== undefined;
}

/** A path below the export's folder that cannot lead out of it. */
// deno-lint-ignore no-control-regex
const STORED = /^(files|history)(\/(?!\.{1,2}(\/|$))[^/\\\x00]+)+$/;

const isAbsent = (value: unknown) => value === undefined;
const isText = (value: unknown) => typeof value === "string";
const isWhole = (min: number) => (value: unknown) => Number.isSafeInteger(value) && Number(value) >= min;
const isTrue = (value: unknown) => value === true;

/** Each field, whether it may be absent, and what it must be. Fields that only inform are not read. */
const FIELDS: readonly (readonly [string, boolean, (value: unknown) => boolean, string])[] = [
  ["version", false, isWhole(1), "is not a version"],
  ["size", false, isWhole(0), "is not a size"],
  ["createdAt", false, isText, "is not a time"],
  ["updatedAt", false, isText, "is not a time"],
  ["operation", false, isText, "is not an operation"],
  ["actor", true, isText, "is not a text"],
  ["note", true, isText, "is not a text"],
  ["type", true, isText, "is not a type"],
  ["sha256", true, (value) => /^[0-9a-f]{64}$/.test(String(value)), "is not a SHA-256"],
  ["stored", true, (value) => isText(value) && STORED.test(String(value)), "leads out of the export"],
  ["deleted", true, isTrue, "must be true or absent"],
  ["redacted", true, isTrue, "must be true or absent"],
];

/** What is wrong with a line; null: nothing. */
function problemOf(value: unknown): string | null {
  if (!isObject(value)) return "is not an object";
  try {
    if (typeof value["path"] !== "string") return "path is not a text";
    checkPath(value["path"]);
  } catch (error) {
    return `path: ${messageOf(error)}`;
  }
  for (const [name, isOptional, isValid, problem] of FIELDS) {
    if (!(isOptional && isAbsent(value[name])) && !isValid(value[name])) return `${name} ${problem}`;
  }
  const hasBytes = !isAbsent(value["stored"]);
  const hasNone = value["deleted"] === true || value["redacted"] === true;
  return hasBytes === !isAbsent(value["sha256"]) && hasBytes !== hasNone
    ? null
    : "must have either both stored and sha256, or deleted or redacted";
}

const encoder = new TextEncoder();

/** Compares by UTF-8 bytes, as the service sorts. */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Yields the lines, which must be in order, and holds one at a time. Throws a `Failure` that names the faulty line. */
export async function* readManifest(file: string): AsyncGenerator<ManifestLine, void, void> {
  let number = 0;
  let last: ManifestLine | undefined;
  for await (const text of linesOf(file)) {
    number++;
    const line = parseLine(text, `${MANIFEST}, line ${number}`);
    const order = last === undefined ? 1 : comparePaths(line.path, last.path) || line.version - last.version;
    if (order <= 0) {
      throw new Failure(`${MANIFEST}, line ${number}: not in the order of paths and versions.`);
    }
    last = line;
    yield line;
  }
}

/** Parses a line of the manifest. Throws a `Failure` that names its place. */
export function parseLine(text: string, place: string): ManifestLine {
  const value = parsed(text);
  if (value === undefined) throw new Failure(`${place}: not JSON.`);
  const problem = problemOf(value);
  if (problem !== null) throw new Failure(`${place}: ${problem}.`);
  const line: ManifestLine = JSON.parse(text);
  return line;
}

/** Yields the lines. Throws if the file does not end with a line feed. */
async function* linesOf(file: string): AsyncGenerator<string, void, void> {
  let rest = "";
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    for await (const chunk of createReadStream(file)) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MANIFEST_LINE_BYTES_MAX) {
        throw new Failure(`${MANIFEST} has a line that is too long.`);
      }
      yield* lines;
    }
    rest += decoder.decode();
  } catch (error) {
    throw error instanceof Failure ? error : new Failure(`${file} cannot be read (${messageOf(error)}).`);
  }
  if (rest !== "") throw new Failure(`${MANIFEST} ends in the middle of a line.`);
}

/** Yields, for each file of the project, all of its lines. */
export async function* filesOf(file: string): AsyncGenerator<readonly ManifestLine[], void, void> {
  let lines: ManifestLine[] = [];
  for await (const line of readManifest(file)) {
    if (lines.length > 0 && lines[0]?.path !== line.path) {
      yield lines;
      lines = [];
    }
    lines.push(line);
  }
  if (lines.length > 0) yield lines;
}
