/** Runs git for one repository, whatever the environment says of others, and without the hooks of its user. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { devNull } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import type { Readable, Writable } from "node:stream";
import { Failure } from "../failure.ts";
import { messageOf } from "../library/errors.ts";

export class Git {
  /** What is private to the repository: its history, and what is remembered of it. */
  readonly directory: string;

  constructor(readonly folder: string) {
    this.directory = join(folder, ".git");
  }

  /** Standard output. Throws `Failure` with what git says. */
  async run(...args: string[]): Promise<string> {
    const child = this.start(...args);
    child.stdin.end();
    const parts: Uint8Array[] = [];
    child.stdout.on("data", (part: Uint8Array) => parts.push(part));
    await finished(child, args[0] ?? "");
    return new TextDecoder().decode(await new Blob(parts.map((part) => new Uint8Array(part))).arrayBuffer());
  }

  start(...args: string[]): ChildProcessByStdio<Writable, Readable, Readable> {
    const others = Object.entries(env).filter(([name]) => !name.startsWith("GIT_"));
    const repository = [`--git-dir=${this.directory}`, `--work-tree=${this.folder}`];
    return spawn("git", [...repository, "-c", `core.hooksPath=${devNull}`, ...args], {
      env: { ...Object.fromEntries(others), LC_ALL: "C" },
      stdio: ["pipe", "pipe", "pipe"],
    });
  }
}

/** Resolves when the process has ended well. */
export function finished(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  what: string,
): Promise<void> {
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => said = (said + text).slice(-2000));
  return new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new Failure(`git cannot be started (${messageOf(error)}).`)));
    child.on("close", (code) => {
      if (code === 0) return resolve();
      reject(new Failure(`git ${what} failed: ${reasonOf(said)}`));
    });
  });
}

/** The first failure that git names, with the paths that it lists below. */
function reasonOf(said: string): string {
  const lines = said.trim().split("\n");
  const first = lines.findIndex((line) => /^(fatal|error)/.test(line));
  if (first === -1) return "nothing";
  const rest = lines.slice(first + 1);
  const end = rest.findIndex((line) => !line.startsWith("\t"));
  const paths = rest.slice(0, end === -1 ? rest.length : end).map((line) => line.trim());
  return [lines[first], paths.join(", ")].join(" ").trim();
}
