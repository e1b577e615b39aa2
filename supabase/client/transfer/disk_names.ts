/**
 * Chooses the place on disk for each exported file. Most are stored at their own path. Some paths are impossible on a
 * common system: names that are reserved or too long, that differ only by case or normalisation, or of a file that is
 * also a folder. The manifest names the place of each file.
 */
import { createHash } from "node:crypto";
import { diskName } from "../../functions/api/files/disk_name.ts";
import { DISK_NAME_BYTES_MAX, DISK_PATH_BYTES_MAX } from "../limits.ts";

/** The size of a text in UTF-8. */
export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The beginning of a text that has at most so many bytes. */
export function cut(text: string, bytes: number): string {
  let kept = "";
  for (const character of text) {
    if (bytesOf(kept + character) > bytes) break;
    kept += character;
  }
  return kept;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The same number for names that are equal on systems that ignore case and normalisation. A number takes little memory. */
function folded(name: string): number {
  return parseInt(digest(name.normalize("NFC").toLowerCase().normalize("NFC")).slice(0, 13), 16);
}

/** Whether some system opens one of these files, or of these short names, under the name. They are given in lower case. */
export function isTakenFor(segment: string, ...names: readonly string[]): boolean {
  const opened = segment.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "")
    .replace(/[. ]*(:.*)?$/s, "");
  return names.includes(opened.toUpperCase().toLowerCase());
}

/** A name for a segment of a path that every common system allows. */
function allowedName(segment: string): string {
  const name = diskName(segment);
  if (bytesOf(name) <= DISK_NAME_BYTES_MAX) return name;
  const mark = `~${digest(segment).slice(0, 12)}`;
  return cut(name, DISK_NAME_BYTES_MAX - mark.length).replace(/[. ]+$/, "") + mark;
}

/** The names that an export has given to files. The caller places each path once. */
export class DiskNames {
  /** It remembers one number for each file and folder. */
  readonly #files = new Set<number>();
  readonly #folders = new Set<number>();

  /** Returns a name below the export's folder for the file at this path; no other file gets the same name. */
  place(path: string): string {
    const segments = path.split("/").map(allowedName);
    let name = "";
    for (const [index, segment] of segments.entries()) {
      const isLast = index === segments.length - 1;
      let next = join(name, segment);
      while (this.#files.has(folded(next)) || isLast && this.#folders.has(folded(next))) next += "~";
      name = next;
    }
    if (bytesOf(name) > DISK_PATH_BYTES_MAX) name = `~long/${digest(path)}`;
    this.take(name);
    return name;
  }

  /** Marks a name as used. */
  take(name: string): void {
    const segments = name.split("/");
    for (let length = 1; length < segments.length; length++) {
      this.#folders.add(folded(segments.slice(0, length).join("/")));
    }
    this.#files.add(folded(name));
  }
}

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
