/**
 * Which paths a sync leaves out: what `.gitignore` and `.filestoreignore` of any folder name, and on every system what some
 * system takes for `.git` or `.filestore`.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import ignore, { type Ignore } from "ignore";
import { isTakenFor } from "../transfer/disk_names.ts";

/** Where a sync keeps what it knows. */
export const INSIDE = ".filestore";

const FILES = [".gitignore", ".filestoreignore"];

export function hasRules(path: string): boolean {
  return FILES.includes(path.slice(path.lastIndexOf("/") + 1));
}

export class Rules {
  readonly #folders = new Map<string, Ignore>();
  readonly #hash = createHash("sha256");

  constructor(private readonly ignoreCase: boolean) {
    this.#hash.update(String(ignoreCase));
  }

  /** Reads the rules of a folder, before what is in it is examined. */
  read(root: string, folder: string): void {
    for (const file of FILES) {
      let text: string;
      try {
        text = readFileSync(join(root, folder, file), "utf8");
      } catch {
        continue;
      }
      const rules = this.#folders.get(folder) ??
        ignore({ allowRelativePaths: true, ignoreCase: this.ignoreCase });
      this.#folders.set(folder, rules.add(text));
      this.#hash.update(JSON.stringify([folder, file, text]));
    }
  }

  /** Changes with the rules. */
  get digest(): string {
    return this.#hash.copy().digest("hex");
  }

  /** Whether a path is left out. What is in a folder that is left out cannot be taken in again. */
  isIgnored(path: string, isFolder = false): boolean {
    const segments = path.split("/");
    return segments.some((segment, index) => {
      if (isTakenFor(segment, ".git", "git~1", INSIDE, "filest~1")) return true;
      const isLast = index === segments.length - 1;
      return this.#isNamed(segments.slice(0, index + 1), isFolder || !isLast);
    });
  }

  /** The rules of an inner folder come after those of an outer one. */
  #isNamed(segments: readonly string[], isFolder: boolean): boolean {
    let isNamed = false;
    for (let depth = 0; depth < segments.length; depth++) {
      const rules = this.#folders.get(segments.slice(0, depth).join("/"));
      if (rules === undefined) continue;
      const { ignored, unignored } = rules.test(segments.slice(depth).join("/") + (isFolder ? "/" : ""));
      if (ignored) isNamed = true;
      if (unignored) isNamed = false;
    }
    return isNamed;
  }
}
