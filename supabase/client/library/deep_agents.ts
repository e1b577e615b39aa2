/**
 * The files of a project as the file system of an agent of the npm package `deepagents`. The types are those of its
 * BackendProtocolV2, so that the package is not needed here.
 */
import { globPattern } from "../../functions/api/search/glob.ts";
import { FilestoreError } from "./errors.ts";
import type { Filestore } from "./filestore.ts";
import type { FileRecord, ReadRecord } from "./records.ts";

/** A file, or a folder, whose path ends with a slash. */
export interface BackendFile {
  readonly path: string;
  readonly is_dir: boolean;
  readonly size: number;
  readonly modified_at?: string;
}

/** Instead of what was asked for: why not. */
export interface BackendFailure {
  readonly error: string;
}

export interface BackendText {
  readonly content: string;
  readonly mimeType: string;
  readonly totalLines?: number;
  /** From 1. */
  readonly startLine?: number;
  readonly endLine?: number;
  /** From 0: where to go on reading. */
  readonly nextOffset?: number;
}

export interface BackendBytes {
  readonly content: Uint8Array;
  readonly mimeType: string;
}

/** A whole file. */
export interface BackendData {
  readonly content: string | Uint8Array;
  readonly mimeType: string;
  readonly created_at: string;
  readonly modified_at: string;
}

export interface BackendMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** What a write did; null, since the file is stored already. */
export interface BackendWrite {
  readonly path: string;
  readonly filesUpdate: null;
}

export type BackendFileError = "file_not_found" | "permission_denied" | "is_directory" | "invalid_path";

/** What the package shows for a file without content. */
const EMPTY = "System reminder: File exists but has empty contents";
/** Text types beside `text/*` that the package takes for text; other texts are named `text/plain` to it. */
const TEXT_TYPES = ["application/json", "application/javascript", "image/svg+xml"];
/** Files of a page of a search. */
const SEARCH_PAGE = 100;

const FILE_ERRORS: Readonly<Record<string, BackendFileError>> = {
  FILE_NOT_FOUND: "file_not_found",
  BRANCH_NOT_FOUND: "file_not_found",
  FORBIDDEN_SCOPE: "permission_denied",
  INVALID_API_KEY: "permission_denied",
  INVALID_PATH: "invalid_path",
  PATH_TOO_LONG: "invalid_path",
};

/**
 * `createDeepAgent({ backend: new FilestoreBackend(store) })`. The agent's `/` is the project, or one of its folders.
 * A failure is returned as `error`, in words for the agent, and nothing is thrown; uploads and downloads throw
 * FilestoreError where the package has no word for the failure.
 */
export class FilestoreBackend {
  constructor(private readonly store: Filestore, private readonly directory: string = "") {}

  /** The files and folders of a folder; a folder that is not there has none. */
  async ls(path: string): Promise<{ files: BackendFile[] } | BackendFailure> {
    return await answered(async () => {
      const files: BackendFile[] = [];
      const folders = new Set<string>();
      const place = this.#at(path);
      for await (const page of this.store.listPages(place)) {
        files.push(...page.files.map((file) => this.#file(file)));
        for (const name of page.directories ?? []) {
          folders.add(`${this.#shown(place === "" ? name : `${place}/${name}`)}/`);
        }
      }
      return { files: [...files, ...[...folders].map(folderOf)].sort(byPath) };
    });
  }

  /** Lines of a text, `offset` from 0; or all bytes of another file. */
  async read(path: string, offset = 0, limit = 500): Promise<BackendText | BackendBytes | BackendFailure> {
    return await answered(async () => {
      const [from, count] = [whole(offset), whole(limit)];
      const lines = `${from + 1}-${from + Math.max(1, count)}`;
      const record = await this.store.read(this.#at(path), { lines }).catch((error: unknown) => {
        // Not a text, or one without a first line.
        const isWhole = hasCode(error, "NOT_TEXT") || from === 0 && hasCode(error, "RANGE_NOT_SATISFIABLE");
        if (!isWhole) throw error;
        return this.store.read(this.#at(path));
      });
      return record.isBase64
        ? { content: bytesOf(record), mimeType: typeOf(record) }
        : linesOf(record, count);
    });
  }

  /** A whole file, with its times. */
  async readRaw(path: string): Promise<{ data: BackendData } | BackendFailure> {
    return await answered(async () => {
      const record = await this.store.read(this.#at(path));
      const content = record.isBase64 ? bytesOf(record) : record.content;
      const times = { created_at: record.createdAt, modified_at: record.updatedAt };
      return { data: { content, mimeType: typeOf(record), ...times } };
    });
  }

  /** Creates the file, or adds a version. */
  async write(path: string, content: string): Promise<BackendWrite | BackendFailure> {
    return await answered(async () => {
      await this.store.write(this.#at(path), content);
      return { path, filesUpdate: null };
    });
  }

  /** Replaces a string: the only one, or with `replaceAll` each. */
  async edit(
    path: string,
    oldString: string,
    newString: string,
    replaceAll = false,
  ): Promise<(BackendWrite & { readonly occurrences: number }) | BackendFailure> {
    return await answered(async () => {
      const { replacements } = await this.store.edit(this.#at(path), oldString, newString, { replaceAll });
      return { path, filesUpdate: null, occurrences: replacements };
    });
  }

  /** Deletes a file, or a folder with all its files. Their versions stay readable. */
  async delete(path: string): Promise<BackendWrite | BackendFailure> {
    return await answered(async () => {
      const place = this.#at(path);
      await this.store.delete(place).catch((error: unknown) => {
        if (!hasCode(error, "FILE_NOT_FOUND")) throw error;
        return this.store.delete(place, { recursive: true });
      });
      return { path, filesUpdate: null };
    });
  }

  /** Lines that contain a text, in the files below a folder. `truncated`: there may be more. */
  async grep(
    pattern: string,
    path: string | null = "/",
    glob: string | null = null,
    maxCount: number | null = null,
  ): Promise<{ matches: BackendMatch[]; truncated?: boolean } | BackendFailure> {
    return await answered(async () => {
      const place = this.#at(path ?? "/");
      const matches: BackendMatch[] = [];
      let isCut = false;
      for (let offset = 0;;) {
        const page = await this.store.search(pattern, {
          mode: "text",
          directory: place || "/",
          glob: glob ?? undefined,
          caseSensitive: true,
          limit: SEARCH_PAGE,
          offset,
        });
        for (const result of page.results) {
          const found = result.matches.map(({ line, snippet }) => ({
            path: this.#shown(result.path),
            line,
            text: snippet,
          }));
          matches.push(...found);
          isCut ||= result.score > found.length;
        }
        isCut ||= page.notSearched !== undefined;
        offset += page.results.length;
        isCut ||= page.hasMore && page.results.length === 0;
        if (!page.hasMore || page.results.length === 0 || matches.length > (maxCount ?? Infinity)) break;
      }
      isCut ||= matches.length > (maxCount ?? Infinity);
      return { matches: matches.slice(0, maxCount ?? Infinity), ...isCut && { truncated: true } };
    });
  }

  /** Files whose path below a folder matches a glob. */
  async glob(pattern: string, path = "/"): Promise<{ files: BackendFile[] } | BackendFailure> {
    return await answered(async () => {
      const place = this.#at(path);
      // Anchored: a name alone is looked for in the folder itself.
      const matching = new RegExp(globPattern(`/${pattern.replace(/^\//, "")}`, place), "u");
      const files: BackendFile[] = [];
      for await (const file of this.store.list(place, { recursive: true })) {
        if (matching.test(file.path)) files.push(this.#file(file));
      }
      return { files: files.sort(byPath) };
    });
  }

  /** Writes bytes, one file after the other. */
  async uploadFiles(
    files: readonly (readonly [path: string, content: Uint8Array])[],
  ): Promise<{ path: string; error: BackendFileError | null }[]> {
    const answers = [];
    for (const [path, content] of files) {
      const done = await orError(() => this.store.write(this.#at(path), content));
      answers.push({ path, error: typeof done === "string" ? done : null });
    }
    return answers;
  }

  /** Reads bytes, one file after the other. */
  async downloadFiles(
    paths: readonly string[],
  ): Promise<{ path: string; content: Uint8Array | null; error: BackendFileError | null }[]> {
    const answers = [];
    for (const path of paths) {
      const read = await orError(() => this.store.readBytes(this.#at(path)));
      const [content, error] = typeof read === "string" ? [null, read] : [read, null];
      answers.push({ path, content, error });
    }
    return answers;
  }

  /** The path in the project. */
  #at(path: string): string {
    return [this.directory, path.replace(/^\/|\/$/g, "")].filter((part) => part !== "").join("/");
  }

  /** The path that the agent knows. */
  #shown(path: string): string {
    return `/${this.directory === "" ? path : path.slice(this.directory.length + 1)}`;
  }

  #file({ path, size, updatedAt }: FileRecord): BackendFile {
    return { path: this.#shown(path), is_dir: false, size, modified_at: updatedAt };
  }
}

/** The answer, or the service's refusal in words. */
async function answered<T>(work: () => Promise<T>): Promise<T | BackendFailure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FilestoreError) return { error: `${error.code}: ${error.message}` };
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

async function orError<T>(work: () => Promise<T>): Promise<T | BackendFileError> {
  try {
    return await work();
  } catch (error) {
    const known = error instanceof FilestoreError ? FILE_ERRORS[error.code] : undefined;
    if (known === undefined) throw error;
    return known;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof FilestoreError && error.code === code;
}

function folderOf(path: string): BackendFile {
  return { path, is_dir: true, size: 0 };
}

function byPath(a: BackendFile, b: BackendFile): number {
  return a.path < b.path ? -1 : 1;
}

function bytesOf({ content }: ReadRecord): Uint8Array {
  return Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
}

/** The package decides by the type whether content is text. */
function typeOf({ mimeType, isBase64 }: ReadRecord): string {
  const isText = mimeType.startsWith("text/") || TEXT_TYPES.includes(mimeType);
  if (isBase64) return isText ? "application/octet-stream" : mimeType;
  return isText ? mimeType : "text/plain";
}

function whole(number: number): number {
  return Number.isFinite(number) ? Math.max(0, Math.floor(number)) : 0;
}

/** A text that was read by lines, as the package pages through it. */
function linesOf(record: ReadRecord, limit: number): BackendText {
  const { totalLines = 0, startLine = 0, endLine = 0 } = record;
  const mimeType = typeOf(record);
  if (record.content === "") return { content: EMPTY, mimeType };
  if (limit === 0) return { content: "", mimeType };
  const hasMore = endLine < totalLines;
  // Only the end of the file keeps its line feed.
  const content = hasMore ? record.content.replace(/\n$/, "") : record.content;
  return { content, mimeType, totalLines, startLine, endLine, ...hasMore && { nextOffset: endLine } };
}
