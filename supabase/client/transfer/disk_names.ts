/**
 * Chooses the place on disk for each exported file. Most are stored at their own path. Some paths are impossible on a
 * common system: names that are reserved or too long, that differ only by case or normalisation, or of a file that is
 * also a folder. The manifest names the place of each file.
 */
import { createHash } from "node:crypto";
import { diskName } from "../../functions/api/files/disk_name.ts";
import { DISK_NAME_BYTES_MAX, DISK_PATH_BYTES_MAX } from "../limits.ts";

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

const digest = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The same number for names that are equal on systems that ignore case and normalisation. A number takes little memory. */
function folded(name: string): number {
  return parseInt(digest(name.normalize("NFC").toLowerCase().normalize("NFC")).slice(0, 13), 16);
}

/** A name for a segment of a path that every common system allows. */
function allowedName(segment: string): string {
  const name = diskName(segment);
  if (bytesOf(name) <= DISK_NAME_BYTES_MAX) return name;
  const mark = `~${digest(segment).slice(0, 12)}`;
  let kept = "";
  for (const character of name) {
    if (bytesOf(kept + character) > DISK_NAME_BYTES_MAX - mark.length) break;
    kept += character;
  }
  return kept.replace(/[. ]+$/, "") + mark;
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
