/** The files of a project, for programs. */
import { PAGE } from "../limits.ts";
import { Api, type Call, type Connection, fileAddress } from "./api.ts";
import { Branches } from "./branches.ts";
import { follow } from "./feed.ts";
import { Links } from "./links.ts";
import type {
  ChangesOptions,
  Content,
  ContentOptions,
  DeleteOptions,
  DiffOptions,
  Edit,
  EditOptions,
  ListOptions,
  MoveOptions,
  Operation,
  ReadOptions,
  SearchOptions,
  WriteOptions,
} from "./options.ts";
import type {
  BatchResults,
  Change,
  DiffRecord,
  FileList,
  FileRecord,
  FolderResult,
  ReadRecord,
  SearchResults,
  Version,
  VersionList,
} from "./records.ts";
import { Runs } from "./runs.ts";
import { write } from "./write.ts";

/**
 * Waits as the service says when it is busy or a rate limit is used up, and repeats requests whose answers were lost:
 * a write under one `Idempotency-Key`. Throws only `FilestoreError`. What is not here is a request away:
 * `store.api.data("/usage")`.
 */
export class Filestore {
  readonly api: Api;
  readonly runs: Runs;
  readonly branches: Branches;
  readonly links: Links;

  constructor(connection: Connection) {
    this.api = new Api(connection);
    this.runs = new Runs(this.api);
    this.branches = new Branches(this.api);
    this.links = new Links(this.api);
  }

  /** The content and the record of a file. */
  async read(path: string, options: ReadOptions = {}): Promise<ReadRecord> {
    return await this.api.data<ReadRecord>(fileAddress(path), { query: { ...options } });
  }

  /** The bytes of a file. */
  async readBytes(
    path: string,
    { version, at }: Pick<ReadOptions, "version" | "at"> = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const call = { query: { version, at }, headers: { accept: "application/octet-stream" } };
    return await this.api.send(
      fileAddress(path),
      call,
      async (response) => new Uint8Array(await response.arrayBuffer()),
    );
  }

  /** Creates the file, or adds a version. */
  async write(path: string, content: Content, options: ContentOptions = {}): Promise<FileRecord> {
    const { contentType, ...shared } = options;
    // A query would carry other characters in place of those that no path can have.
    fileAddress(path);
    if (typeof content === "string") {
      const json = { path, content, contentType, ifVersion: options.ifVersion };
      return await this.#write<FileRecord>("/files", { method: "POST", json }, shared);
    }
    const { ifVersion } = options;
    const query = { path, contentType, ifVersion };
    return await this.#write<FileRecord>("/files", { method: "POST", query, body: content }, shared);
  }

  /** Adds content to the end of an existing file. */
  async append(path: string, content: Content, options: WriteOptions = {}): Promise<FileRecord> {
    const { ifVersion } = options;
    const call: Call = typeof content === "string"
      ? { json: { content, ifVersion } }
      : { query: { raw: true, ifVersion }, body: content };
    return await this.#write<FileRecord>(
      fileAddress(path, "/files/append"),
      { method: "PUT", ...call },
      options,
    );
  }

  /** Replaces strings: `edit(path, old, new)`, or `edit(path, edits)` for several as one version. */
  edit(path: string, edits: Edit | readonly Edit[], options?: WriteOptions): Promise<EditedRecord>;
  edit(path: string, oldString: string, newString: string, options?: EditOptions): Promise<EditedRecord>;
  async edit(
    path: string,
    what: string | Edit | readonly Edit[],
    second: string | WriteOptions = {},
    third: EditOptions = {},
  ): Promise<EditedRecord> {
    const options = typeof second === "string" ? third : second;
    const { replaceAll, expectedOccurrences } = third;
    const edit = typeof what === "string"
      ? { oldString: what, newString: String(second), replaceAll, expectedOccurrences }
      : isList(what)
      ? { edits: what }
      : what;
    const json = { ...edit, ifVersion: options.ifVersion };
    return await this.#write<EditedRecord>(
      fileAddress(path, "/files/edit"),
      { method: "PUT", json },
      options,
    );
  }

  /** The files of a folder, in order of path. */
  async *list(directory = "", options: ListOptions = {}): AsyncGenerator<FileRecord, void, void> {
    for await (const { files } of this.listPages(directory, options)) yield* files;
  }

  /** The same by pages, which also name the sub-folders. */
  async *listPages(directory = "", options: ListOptions = {}): AsyncGenerator<FileList, void, void> {
    const folder = directory === "" ? "/" : directory;
    let after: string | undefined;
    for (;;) {
      const query = { ...options, directory: folder, limit: PAGE, after };
      const page = await this.api.data<FileList>("/files", { query });
      yield page;
      after = page.next ?? page.files.at(-1)?.path;
      if (!page.hasMore || after === undefined) return;
    }
  }

  async search(q: string, options: SearchOptions = {}): Promise<SearchResults> {
    return await this.api.data<SearchResults>("/search", { query: { q, ...options } });
  }

  /** The versions of a file, the newest first. */
  async *history(path: string): AsyncGenerator<Version, void, void> {
    let oldest = Infinity;
    for (let offset = 0;; offset += PAGE) {
      const query = { versions: "", limit: PAGE, offset };
      const page = await this.api.data<VersionList>(fileAddress(path), { query });
      // Versions that are added meanwhile move others to the next page.
      for (const version of page.versions) if (version.version < oldest) yield version;
      oldest = page.versions.at(-1)?.version ?? oldest;
      if (offset + PAGE >= page.total) return;
    }
  }

  async diff(path: string, options: DiffOptions = {}): Promise<DiffRecord> {
    return await this.api.data<DiffRecord>(fileAddress(path, "/diff"), { query: { ...options } });
  }

  /** Makes an earlier version the latest one. */
  async restore(path: string, version: number, options: WriteOptions = {}): Promise<FileRecord> {
    const json = { version, ifVersion: options.ifVersion };
    return await this.#write<FileRecord>(
      fileAddress(path, "/files/restore"),
      { method: "PUT", json },
      options,
    );
  }

  /** Deletes a file, or with `recursive` a folder. Its versions stay readable. */
  delete(path: string, options: DeleteOptions & { readonly recursive: true }): Promise<FolderResult>;
  delete(path: string, options?: DeleteOptions & { readonly recursive?: false }): Promise<FileRecord>;
  async delete(path: string, options: DeleteOptions = {}): Promise<FileRecord | FolderResult> {
    const { ifVersion, recursive = false } = options;
    const address = fileAddress(path, recursive ? "/folders" : "/files");
    return await this.#write<FileRecord | FolderResult>(
      address,
      { method: "DELETE", query: { ifVersion } },
      options,
    );
  }

  /** Moves a file, or with `recursive` a folder. */
  move(path: string, to: string, options: MoveOptions & { readonly recursive: true }): Promise<FolderResult>;
  move(path: string, to: string, options?: MoveOptions & { readonly recursive?: false }): Promise<FileRecord>;
  move(path: string, to: string, options: MoveOptions = {}): Promise<FileRecord | FolderResult> {
    return this.#place("move", path, to, options);
  }

  /** Copies a file, or with `recursive` a folder. */
  copy(path: string, to: string, options: MoveOptions & { readonly recursive: true }): Promise<FolderResult>;
  copy(path: string, to: string, options?: MoveOptions & { readonly recursive?: false }): Promise<FileRecord>;
  copy(path: string, to: string, options: MoveOptions = {}): Promise<FileRecord | FolderResult> {
    return this.#place("copy", path, to, options);
  }

  /** Executes all operations as one commit, or none. */
  async batch(
    operations: readonly Operation[],
    options: Omit<WriteOptions, "ifVersion"> = {},
  ): Promise<BatchResults> {
    return await this.#write<BatchResults>("/batch", { method: "POST", json: { operations } }, options);
  }

  /** The versions of the project, in the order of the change feed. */
  changes(options: ChangesOptions = {}): AsyncGenerator<Change, void, void> {
    return follow(this.api, options);
  }

  async #place(
    action: "move" | "copy",
    path: string,
    destination: string,
    options: MoveOptions,
  ): Promise<FileRecord | FolderResult> {
    const { overwrite, ifVersion, recursive = false } = options;
    const call: Call = recursive
      ? { method: "POST", json: { path, destination, overwrite, ifVersion } }
      : { method: "PUT", json: { destination, overwrite, ifVersion } };
    const address = recursive ? `/folders/${action}` : fileAddress(path, `/files/${action}`);
    return await this.#write<FileRecord | FolderResult>(address, call, options);
  }

  #write<T>(path: string, call: Call, options: WriteOptions): Promise<T> {
    return write<T>(this.api, path, call, options);
  }
}

/** The record of an edited file, and how many strings were replaced. */
export type EditedRecord = FileRecord & { readonly replacements: number };

function isList(edits: Edit | readonly Edit[]): edits is readonly Edit[] {
  return Array.isArray(edits);
}
