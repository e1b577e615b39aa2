/** The folder of an export: content, manifest, and the state with which it continues after an interruption. */
import { createReadStream } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../failure.ts";
import { isObject, parsed } from "../library/answer.ts";
import { messageOf } from "../library/errors.ts";
import { DiskNames } from "./disk_names.ts";
import { MANIFEST, type ManifestLine, parseLine, PARTIAL_MANIFEST } from "./manifest.ts";

/** The file with the export's options, and whether it is complete. */
const STATE = "export.json";
/** The folder of downloads that are not in their final place yet. */
const DOWNLOADS = ".partial";

export interface Wanted {
  readonly directory: string;
  /** `--at` as it was given; null: the present. */
  readonly asked: string | null;
  readonly history: boolean;
}

export interface ExportState extends Wanted {
  readonly format: 1;
  /** The moment of the export: a time, or a cursor of the change feed. */
  readonly at: string;
  readonly startedAt: string;
  readonly isComplete: boolean;
}

function isState(value: unknown): value is ExportState {
  return isObject(value) && value["format"] === 1 && typeof value["directory"] === "string" &&
    (value["asked"] === null || typeof value["asked"] === "string") && typeof value["at"] === "string" &&
    typeof value["history"] === "boolean" && typeof value["startedAt"] === "string" &&
    typeof value["isComplete"] === "boolean";
}

export class ExportFolder {
  readonly #names = new DiskNames();
  #manifest: FileHandle | undefined;
  /** Files that an interrupted run exported. */
  filesBefore = 0;
  /** The path of the last file that an interrupted run exported. */
  lastPath: string | undefined;

  private constructor(readonly path: string, readonly state: ExportState) {}

  /** Begins an export, or continues one with the same options. Throws `Failure` if the folder has other content. */
  static async open(path: string, wanted: Wanted, presentOf: () => Promise<string>): Promise<ExportFolder> {
    await mkdir(path, { recursive: true, mode: 0o700 }).catch((error) => {
      throw new Failure(`The folder ${path} cannot be written (${messageOf(error)}).`);
    });
    const begun = await readState(path);
    if (begun === null) {
      for (const name of await readdir(path)) {
        if (!name.startsWith(`${STATE}.`)) {
          throw new Failure(`${path} is not empty; name an empty or new folder.`);
        }
      }
    } else if (begun.isComplete) {
      throw new Failure(`${path} holds a complete export; name another folder.`);
    } else if (
      begun.directory !== wanted.directory || begun.asked !== wanted.asked || begun.history !== wanted.history
    ) {
      throw new Failure(
        `${path} holds an unfinished export with other options; give those, or name another folder.`,
      );
    }
    const at = begun === null ? wanted.asked ?? await presentOf() : begun.at;
    const folder = new ExportFolder(
      path,
      begun ?? { format: 1, ...wanted, at, startedAt: new Date().toISOString(), isComplete: false },
    );
    await folder.#begin(begun === null);
    return folder;
  }

  async #begin(isNew: boolean): Promise<void> {
    if (isNew) await this.#writeState(this.state);
    await rm(join(this.path, DOWNLOADS), { recursive: true, force: true });
    for (const name of [DOWNLOADS, "files"]) {
      await mkdir(join(this.path, name), { recursive: true, mode: 0o700 });
    }
    // An earlier run was interrupted between the last two steps of `finish`.
    if (await exists(join(this.path, MANIFEST))) {
      await rename(join(this.path, MANIFEST), join(this.path, PARTIAL_MANIFEST));
    }
    const file = join(this.path, PARTIAL_MANIFEST);
    this.#manifest = await open(file, "a");
    await this.#manifest.truncate(await this.#recover(file));
  }

  /**
   * Reads the manifest of an interrupted run, and drops its last path, whose lines or bytes may be incomplete. A line
   * is written before its bytes are moved into place, so every file on disk has a line. Returns the offset to continue
   * at.
   */
  async #recover(file: string): Promise<number> {
    let [end, start] = [0, 0];
    let last: ManifestLine[] = [];
    let rest: Uint8Array<ArrayBuffer> = new Uint8Array(0);
    const accept = (lines: readonly ManifestLine[]) => {
      for (const { stored } of lines) if (stored?.startsWith("files/")) this.#names.take(stored.slice(6));
      if (lines.length > 0) this.filesBefore++;
      this.lastPath = lines[0]?.path ?? this.lastPath;
    };
    for await (const chunk of createReadStream(file)) {
      const bytes = concatenated(rest, chunk);
      let from = 0;
      for (let to = bytes.indexOf(10); to >= 0; to = bytes.indexOf(10, from)) {
        const line = parseLine(new TextDecoder().decode(bytes.subarray(from, to)), PARTIAL_MANIFEST);
        if (last[0]?.path !== line.path) {
          accept(last);
          [last, start] = [[], end];
        }
        last.push(line);
        end += to + 1 - from;
        from = to + 1;
      }
      rest = bytes.slice(from);
    }
    for (const { stored } of last) {
      if (stored?.startsWith("files/")) await rm(join(this.path, stored), { force: true });
    }
    return start;
  }

  /** Returns a temporary name for a download; `add` moves the download to its final place. */
  download(): string {
    return join(this.path, DOWNLOADS, crypto.randomUUID());
  }

  /** Adds a version: writes its line, then moves its bytes into place. `isLast`: into `files/`, not into `history/`. */
  async add(line: Omit<ManifestLine, "stored">, download: string | null, isLast: boolean): Promise<void> {
    const { sha256 = "" } = line;
    const stored = download === null
      ? undefined
      : isLast
      ? `files/${this.#names.place(line.path)}`
      : `history/${sha256.slice(0, 2)}/${sha256}`;
    await this.#manifest?.appendFile(JSON.stringify({ ...line, ...stored && { stored } }) + "\n");
    if (download === null || stored === undefined) return;
    const place = join(this.path, stored);
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await rename(download, place);
  }

  async finish(): Promise<void> {
    await this.#manifest?.sync();
    await this.close();
    await rename(join(this.path, PARTIAL_MANIFEST), join(this.path, MANIFEST));
    await this.#writeState({ ...this.state, isComplete: true });
    await rm(join(this.path, DOWNLOADS), { recursive: true });
  }

  async close(): Promise<void> {
    await this.#manifest?.close();
    this.#manifest = undefined;
  }

  async #writeState(value: ExportState): Promise<void> {
    const temporary = join(this.path, `${STATE}.${crypto.randomUUID()}`);
    await writeFile(temporary, JSON.stringify(value, null, 2) + "\n");
    await rename(temporary, join(this.path, STATE));
  }
}

async function readState(path: string): Promise<ExportState | null> {
  const file = join(path, STATE);
  if (!await exists(file)) return null;
  const state = parsed(await readFile(file, "utf8"));
  if (isState(state)) return state;
  throw new Failure(`${file} is not the state file of an export; name another folder.`);
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(() => true, () => false);
}

function concatenated(first: Uint8Array<ArrayBuffer>, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
