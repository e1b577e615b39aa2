/** Writes commits by `git fast-import`, in the order in which they are given. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { once } from "node:events";
import { finished, type Git } from "./git.ts";
import { HISTORY } from "./repository.ts";
import type { Steps } from "./tree.ts";

/** The bytes of a version: in memory, or in a file of this size. */
export type Bytes = Uint8Array | { readonly file: string; readonly size: number };

export interface Commit {
  readonly author: string;
  /** Seconds since 1970. */
  readonly time: number;
  readonly message: string;
  readonly steps: Steps;
}

export class FastImport {
  readonly #process;
  readonly #ended: Promise<void>;
  #parent: string | null;

  /** `parent`: the commit that the first one follows. */
  constructor(git: Git, parent: string | null) {
    this.#process = git.start("fast-import", "--quiet", "--done", "--date-format=raw");
    this.#process.stdout.resume();
    // What is written to a process that has ended is lost; why it ended is what is reported.
    this.#process.stdin.on("error", () => {});
    this.#ended = finished(this.#process, "fast-import");
    this.#ended.catch(() => {});
    this.#parent = parent;
  }

  /** Stores the bytes, and returns the name that git has for them. */
  async blob(bytes: Bytes): Promise<string> {
    const size = bytes instanceof Uint8Array ? bytes.length : bytes.size;
    const hash = createHash("sha1").update(`blob ${size}\0`);
    await this.#write(`blob\ndata ${size}\n`);
    const parts = bytes instanceof Uint8Array ? [bytes] : createReadStream(bytes.file);
    for await (const part of parts) {
      hash.update(part);
      await this.#write(part);
    }
    await this.#write("\n");
    return hash.digest("hex");
  }

  async commit({ author, time, message, steps }: Commit): Promise<void> {
    const who = `${author} <> ${time} +0000`;
    const text = new TextEncoder().encode(message);
    const lines = [
      `commit ${HISTORY}`,
      `author ${who}`,
      `committer ${who}`,
      `data ${text.length}`,
      message,
      ...this.#parent === null ? [] : [`from ${this.#parent}`],
      ...steps.deleted.map((name) => `D ${quoted(name)}`),
      ...steps.written.map(([name, blob]) => `M 100644 ${blob} ${quoted(name)}`),
    ];
    this.#parent = null;
    await this.#write(`${lines.join("\n")}\n\n`);
  }

  /** Resolves when the repository has all commits. */
  async end(): Promise<void> {
    await this.#write("done\n");
    this.#process.stdin.end();
    await this.#ended;
  }

  /** Without `end` the repository keeps none of them. */
  async cancel(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended.catch(() => {});
  }

  /** Resolves when there is room for more. */
  async #write(part: string | Uint8Array): Promise<void> {
    if (this.#process.exitCode !== null || !this.#process.stdin.writable) return await this.#ended;
    if (this.#process.stdin.write(part)) return;
    await Promise.race([once(this.#process.stdin, "drain"), this.#ended]);
  }
}

/** As git quotes a path. Paths of the service have no control characters. */
function quoted(name: string): string {
  return `"${name.replaceAll(/["\\]/g, "\\$&")}"`;
}
