/**
 * What was last equal on both sides, kept in `.filestore/state`: a line of JSON about the whole, and one for each path. Lines
 * are added while a pass runs, and a later line replaces an earlier one, so a run that is killed loses nothing that matters.
 */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../failure.ts";
import { isObject, parsed } from "../library/answer.ts";
import type { Base } from "./plan.ts";

export interface Known extends Base {
  readonly size: number;
  /** Milliseconds since 1970; 0: the content must be read again, since the time may not show the next change. */
  readonly mtime: number;
}

interface Head {
  readonly url: string;
  readonly directory: string;
  /** The feed was read up to here; null: list everything. */
  readonly cursor: string | null;
  /** The rules about ignored files at that time. */
  readonly rules: string;
}

export class State {
  readonly #file: string;
  readonly #known = new Map<string, Known>();
  #head: Head;
  /** Whether there is a file. The first line of it that is written binds the folder. */
  #isWritten = false;
  #lines: string[] = [];

  /** Throws `Failure` if the folder is in sync with another one. */
  constructor(inside: string, url: string, directory: string) {
    this.#file = join(inside, "state");
    this.#head = { url, directory, cursor: null, rules: "" };
    const lines = readLines(this.#file);
    const head = parsed(lines[0] ?? "");
    if (!isObject(head)) return;
    this.#isWritten = true;
    if (head["directory"] !== directory || head["url"] !== url) {
      throw new Failure(
        `This folder is in sync with ${String(head["directory"]) || "/"} of ${String(head["url"])}. ` +
          "Sync another folder, or remove .filestore first.",
      );
    }
    this.#head = { ...this.#head, cursor: textOf(head["cursor"]), rules: textOf(head["rules"]) ?? "" };
    for (const line of lines.slice(1)) this.#read(parsed(line));
    // Lines that are added must not continue one that was cut off.
    if (lines.at(-1) !== "") this.write();
  }

  get cursor(): string | null {
    return this.#head.cursor;
  }

  get rules(): string {
    return this.#head.rules;
  }

  get known(): ReadonlyMap<string, Known> {
    return this.#known;
  }

  set(path: string, known: Known | null): void {
    if (known === null) this.#known.delete(path);
    else this.#known.set(path, known);
    this.#lines.push(lineOf(path, known));
  }

  /** Writes the lines that were added. */
  flush(): void {
    if (this.#lines.length === 0) return;
    if (!this.#isWritten) return this.write();
    appendFileSync(this.#file, this.#lines.join(""));
    this.#lines = [];
  }

  /** Writes the whole state, with the position up to which both sides were compared. */
  finish(cursor: string | null, rules: string): void {
    const isSame = this.#lines.length === 0 && cursor === this.#head.cursor && rules === this.#head.rules;
    if (isSame && this.#isWritten) return;
    this.#head = { ...this.#head, cursor, rules };
    this.write();
  }

  private write(): void {
    const lines = [`${JSON.stringify(this.#head)}\n`];
    for (const [path, known] of this.#known) lines.push(lineOf(path, known));
    writeFileSync(`${this.#file}.new`, lines.join(""));
    renameSync(`${this.#file}.new`, this.#file);
    this.#isWritten = true;
    this.#lines = [];
  }

  /** The last line may be cut off. */
  #read(line: unknown): void {
    if (!isObject(line)) return;
    const { path, id, version, sha256, size, mtime } = line;
    if (typeof path !== "string") return;
    if (typeof id !== "string" || typeof sha256 !== "string") this.#known.delete(path);
    else {this.#known.set(path, {
        id,
        sha256,
        version: Number(version),
        size: Number(size),
        mtime: Number(mtime),
      });}
  }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}

function lineOf(path: string, known: Known | null): string {
  return `${JSON.stringify({ path, ...known })}\n`;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
