/** The folder on the disk: what is in it, and changes of it that overwrite nothing unseen. */
import { createHash } from "node:crypto";
import {
  appendFileSync,
  chmodSync,
  createReadStream,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  truncateSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { checkPath } from "../../functions/api/http/path.ts";
import { messageOf } from "../library/errors.ts";
import { RACY_MILLISECONDS, SYNC_SMALL_BYTES } from "../limits.ts";
import { INSIDE, Rules } from "./rules.ts";
import type { Known } from "./state.ts";

export interface Local {
  readonly size: number;
  readonly mtime: number;
  /** When the file was examined; a later change within the clock's grain would not show. */
  readonly isRacy: boolean;
  readonly sha256: string;
}

/** What a folder has, at the time of the scan. */
export interface Scan {
  readonly rules: Rules;
  readonly files: ReadonlyMap<string, Local>;
  /** Files and folders that are there and left out, and why. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** A file that is there; nothing else is kept of what the disk says, since there can be very many. */
interface Found {
  readonly path: string;
  readonly size: number;
  readonly mtime: number;
}

export class LocalFolder {
  /** For downloads; on the same disk, so that they can be renamed. */
  readonly #temporary: string;
  /** The root without links, as the disk spells it. */
  readonly #real: string;

  constructor(readonly root: string) {
    this.#real = realpathSync.native(root);
    this.#temporary = join(root, INSIDE, "tmp");
    rmSync(this.#temporary, { recursive: true, force: true });
    // What is to replace a private file is as private until it has that file's mode.
    mkdirSync(this.#temporary, { recursive: true, mode: 0o700 });
  }

  /** Files whose size and time are those of `known` are not read again. */
  async scan(known: ReadonlyMap<string, Known>): Promise<Scan> {
    const ignoreCase = statsOf(this.at(INSIDE.toUpperCase())) !== null;
    const rules = new Rules(ignoreCase);
    const files = new Map<string, Local>();
    const leftOut = new Map<string, string>();
    const found: Found[] = [];
    this.#walk("", rules, leftOut, found);
    for (const { path, size, mtime } of found) {
      const before = known.get(path);
      const isKnown = before !== undefined && before.size === size && before.mtime === mtime;
      try {
        const sha256 = isKnown ? before.sha256 : await digestOf(join(this.root, path), size);
        files.set(path, { size, mtime, isRacy: isRacy(mtime), sha256 });
      } catch (error) {
        if (Reflect.get(Object(error), "code") !== "ENOENT") leftOut.set(path, messageOf(error));
      }
    }
    return { rules, files, leftOut };
  }

  #walk(folder: string, rules: Rules, leftOut: Map<string, string>, found: Found[]): void {
    rules.read(this.root, folder);
    let entries;
    try {
      entries = readdirSync(join(this.root, folder), { withFileTypes: true });
    } catch (error) {
      leftOut.set(folder, messageOf(error));
      return;
    }
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (path === INSIDE) continue;
      const reason = reasonOf(path, entry, rules);
      if (reason !== null) leftOut.set(path, reason);
      else if (entry.isDirectory()) this.#walk(path, rules, leftOut, found);
      else {
        const stats = statsOf(join(this.root, path));
        if (stats !== null) found.push({ path, size: stats.size, mtime: stats.mtimeMs });
      }
    }
  }

  /** A new path for a download. */
  temporary(): string {
    return join(this.#temporary, crypto.randomUUID());
  }

  at(path: string): string {
    return join(this.root, path);
  }

  /** The present state of a path, without its content. */
  stats(path: string): { size: number; mtime: number; isRacy: boolean } | null {
    const stats = statsOf(this.at(path));
    if (stats === null) return null;
    return { size: stats.size, mtime: stats.mtimeMs, isRacy: isRacy(stats.mtimeMs) };
  }

  isFolder(path: string): boolean {
    return statsOf(this.at(path))?.isDirectory() ?? false;
  }

  /** Whether the file is as it was when it was scanned; `null`: it was not there. */
  isStill(path: string, scanned: Local | null): boolean {
    const now = this.stats(path);
    if (now === null || scanned === null) return now === null && scanned === null;
    return now.size === scanned.size && now.mtime === scanned.mtime;
  }

  /** Puts a download in its place, with the mode of the file `like`. Throws where the disk cannot hold the name. */
  place(download: string, path: string, like = path): void {
    const mode = statsOf(this.at(like))?.mode;
    // Some disks have one mode for all files, and refuse to set it.
    if (mode !== undefined && mode !== statsOf(download)?.mode) chmodSync(download, mode & 0o777);
    this.#checkFolders(path);
    mkdirSync(dirname(this.at(path)), { recursive: true });
    renameSync(download, this.at(path));
    if (this.#isNamed(path)) return;
    rmSync(this.at(path));
    throw new Error("the disk gives it another name");
  }

  /** Removes a file, and the folders that are empty then. */
  remove(path: string): void {
    rmSync(this.at(path), { force: true });
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
      try {
        rmdirSync(this.at(folder));
      } catch {
        return;
      }
    }
  }

  /** Whether the disk takes the path for that of another file. */
  isOther(path: string): boolean {
    return this.stats(path) !== null && !this.#isNamed(path);
  }

  /** Throws where a folder of the path has another name on the disk, or is a link, which may lead elsewhere. */
  #checkFolders(path: string): void {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (statsOf(this.at(folder)) === null) continue;
      if (this.#isNamed(folder)) return;
      throw new Error(`${folder} is another folder on the disk`);
    }
  }

  /** Whether the disk has the path under this name. Nothing is read but its own entries, among however many. */
  #isNamed(path: string): boolean {
    const name = basename(path);
    // Windows takes what follows a colon for a part of the file before it, which no folder lists.
    if (name.includes(":")) return readdirSync(dirname(this.at(path))).includes(name);
    return realpathSync.native(this.at(path)) === join(this.#real, path);
  }

  /** Renames a file to a copy of a conflict, which a line of `conflicts.jsonl` names before it exists. */
  keepBeside(path: string, copy: string, line: string): void {
    const conflicts = join(this.root, INSIDE, "conflicts.jsonl");
    const before = statsOf(conflicts)?.size ?? 0;
    appendFileSync(conflicts, line);
    try {
      renameSync(this.at(path), this.at(copy));
    } catch (error) {
      truncateSync(conflicts, before);
      throw error;
    }
  }
}

/** Null: there is nothing at the path, or a file where it has a folder. */
function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(Reflect.get(Object(error), "code"))) return null;
    throw error;
  }
}

/** Why a path is left out; null: it is not. */
function reasonOf(
  path: string,
  entry: { isDirectory(): boolean; isFile(): boolean; isSymbolicLink(): boolean },
  rules: Rules,
): string | null {
  if (rules.isIgnored(path, entry.isDirectory())) return "ignored";
  if (entry.isSymbolicLink()) return "a symbolic link";
  if (!entry.isDirectory() && !entry.isFile()) return "not a file";
  // A name that is not UTF-8 is read with this character.
  if (path.includes("\ufffd")) return "its name is not UTF-8";
  try {
    checkPath(path);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** Some disks keep whole or even seconds only. */
function isRacy(mtime: number): boolean {
  return Date.now() - mtime < (mtime % 1000 === 0 ? 20 : 1) * RACY_MILLISECONDS;
}

/** Small files are read at once, which takes a tenth of the time. */
export async function digestOf(file: string, size = Infinity): Promise<string> {
  const hash = createHash("sha256");
  if (size <= SYNC_SMALL_BYTES) return hash.update(readFileSync(file)).digest("hex");
  for await (const part of createReadStream(file)) hash.update(part);
  return hash.digest("hex");
}
