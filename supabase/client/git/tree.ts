/**
 * The tree of a commit: which file of the service has which name in it. A name is the file's path, with two exceptions: git
 * refuses some names, and a file that has the name of a folder gets a `~`, since a tree holds only one of the two.
 */

import { isTakenFor } from "../transfer/disk_names.ts";

/** A path and its blob; null: there is no such file any more. */
export type Changed = ReadonlyMap<string, string | null>;

/** What turns the tree of the commit before into that of this one: first what is deleted, then what is written. */
export interface Steps {
  readonly deleted: readonly string[];
  readonly written: readonly (readonly [name: string, blob: string])[];
}

interface Entry {
  readonly name: string;
  readonly blob: string;
}

/** Whether git refuses a path in a work tree: `.git`, and what some system takes for it. */
export function isRefused(path: string): boolean {
  return path.split("/").some((segment) => isTakenFor(segment, ".git", "git~1"));
}

export class Tree {
  readonly #files = new Map<string, Entry>();
  /** Each folder, and how many files are below it. */
  readonly #folders = new Map<string, number>();
  /** The files that have the name of a folder. */
  readonly #clashing = new Set<string>();

  /** The names of files that do not have their own. */
  get renamed(): ReadonlyMap<string, string> {
    return new Map([...this.#clashing].sort().map((path) => [path, this.#files.get(path)?.name ?? path]));
  }

  /** Takes over a tree that was written before. */
  load(path: string, entry: Entry): void {
    this.#put(path, entry);
    if (entry.name !== path) this.#clashing.add(path);
  }

  apply(changed: Changed): Steps {
    const affected = new Set([...changed.keys(), ...this.#clashing]);
    for (const path of changed.keys()) {
      for (const folder of foldersOf(path)) if (this.#files.has(folder)) affected.add(folder);
    }
    const before = new Map([...affected].map((path) => [path, this.#files.get(path)]));
    for (const [path, blob] of changed) {
      if (blob === null) this.#remove(path);
      else this.#put(path, { name: path, blob });
    }
    this.#rename(affected);
    return this.#steps(before);
  }

  #steps(before: ReadonlyMap<string, Entry | undefined>): Steps {
    const deleted: string[] = [];
    const written: (readonly [string, string])[] = [];
    for (const [path, old] of before) {
      const now = this.#files.get(path);
      if (old !== undefined && old.name !== now?.name) deleted.push(old.name);
      if (now !== undefined && (now.name !== old?.name || now.blob !== old.blob)) {
        written.push([now.name, now.blob]);
      }
    }
    const names = new Set(written.map(([name]) => name));
    return { deleted: deleted.filter((name) => !names.has(name)).sort(), written: written.sort(byName) };
  }

  /** Names follow from the files that exist, not from their history. */
  #rename(affected: ReadonlySet<string>): void {
    const taken = new Set<string>();
    for (const path of [...affected].sort()) {
      const entry = this.#files.get(path);
      this.#clashing.delete(path);
      if (entry === undefined) continue;
      let name = path;
      if (this.#folders.has(path)) {
        this.#clashing.add(path);
        while (this.#folders.has(name) || this.#files.has(name) || taken.has(name)) name += "~";
        taken.add(name);
      }
      this.#files.set(path, { name, blob: entry.blob });
    }
  }

  #put(path: string, entry: Entry): void {
    if (!this.#files.has(path)) this.#count(path, 1);
    this.#files.set(path, entry);
  }

  #remove(path: string): void {
    if (this.#files.delete(path)) this.#count(path, -1);
  }

  #count(path: string, difference: number): void {
    for (const folder of foldersOf(path)) {
      const count = (this.#folders.get(folder) ?? 0) + difference;
      if (count === 0) this.#folders.delete(folder);
      else this.#folders.set(folder, count);
    }
  }
}

/** `a` and `a/b` of `a/b/c`. */
function foldersOf(path: string): string[] {
  const segments = path.split("/");
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}
