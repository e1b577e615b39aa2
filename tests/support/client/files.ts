/** The operations as a client uses them: each call must succeed and return the contract's record, and nothing else. */
import { z } from "zod";
import type { Api, RequestOptions } from "./api.ts";
import {
  type Answer,
  batchResults,
  dataOf,
  diffRecord,
  editRecord,
  fileList,
  type FileRecord,
  fileRecord,
  readRecord,
  tombstone,
  versionList,
} from "./contract.ts";
import { tagOf } from "./preconditions.ts";

export type HeaderFields = Readonly<Record<string, string>>;
type Query = NonNullable<RequestOptions["query"]>;

/** A file's path in a URL, encoded as simple generated clients encode it. */
export function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

export { diffRecord, tombstone };

export const ASKS_FOR_BYTES = { accept: "application/octet-stream" } as const;

/** The files of one project, accessed with one key. */
export class Files {
  constructor(readonly api: Api, readonly key: string) {}

  request(method: string, path: string, options?: RequestOptions): Promise<Answer> {
    return this.api.request(this.key, method, path, options);
  }

  async write(path: string, content: string, more: Record<string, unknown> = {}): Promise<FileRecord> {
    const answer = await this.request("POST", "/files", { body: { path, content, ...more } });
    return dataOf(answer, "write_file", fileRecord);
  }

  /** Writes bytes as base64. */
  writeBytes(path: string, bytes: Uint8Array, more: Record<string, unknown> = {}): Promise<FileRecord> {
    return this.write(path, bytes.toBase64(), { isBase64: true, ...more });
  }

  /** Sends several operations as one commit, so that a test needs one request instead of one for each. */
  async commit(operations: readonly Record<string, unknown>[]): Promise<void> {
    dataOf(await this.request("POST", "/batch", { body: { operations } }), "batch", batchResults);
  }

  async append(path: string, content: string, more: Record<string, unknown> = {}): Promise<FileRecord> {
    const answer = await this.request("PUT", `/files/append/${encodePath(path)}`, {
      body: { content, ...more },
    });
    return dataOf(answer, "write_file", fileRecord);
  }

  async overwrite(path: string, content: string, more: Record<string, unknown> = {}): Promise<FileRecord> {
    const answer = await this.request("PUT", `/files/overwrite/${encodePath(path)}`, {
      body: { content, ...more },
    });
    return dataOf(answer, "write_file", fileRecord);
  }

  async edit(path: string, oldString: string, newString: string, more: Record<string, unknown> = {}) {
    const answer = await this.tryEdit(path, oldString, newString, more);
    return dataOf(answer, "write_file", editRecord);
  }

  /** An edit that may be refused. */
  tryEdit(path: string, oldString: string, newString: string, more: Record<string, unknown> = {}) {
    return this.request("PUT", `/files/edit/${encodePath(path)}`, {
      body: { oldString, newString, ...more },
    });
  }

  async read(path: string, query: Query = {}) {
    return dataOf(
      await this.request("GET", `/files/${encodePath(path)}`, { query }),
      "read_file",
      readRecord,
    );
  }

  /** The content's bytes, whether sent as text or as base64. */
  async readBytes(path: string, query: Query = {}): Promise<Uint8Array> {
    const { content, isBase64 } = await this.read(path, query);
    return isBase64 ? Uint8Array.fromBase64(content) : new TextEncoder().encode(content);
  }

  async record(path: string, query: Query = {}): Promise<FileRecord> {
    const answer = await this.request("GET", `/files/${encodePath(path)}?metadata${suffix(query)}`);
    return dataOf(answer, "get_file_metadata", fileRecord);
  }

  async versions(path: string, query: Query = {}) {
    const answer = await this.request("GET", `/files/${encodePath(path)}?versions${suffix(query)}`);
    return dataOf(answer, "get_file_versions", versionList);
  }

  async list(query: Query = {}) {
    return dataOf(await this.request("GET", "/files", { query }), "list_files", fileList);
  }

  /** The paths of one page. */
  async paths(query: Query = {}): Promise<string[]> {
    return (await this.list(query)).files.map((file) => file.path);
  }

  /** `PUT /files/{route}/{path}`, which may be refused. */
  put(route: string, path: string, body: unknown, headers: HeaderFields = {}): Promise<Answer> {
    return this.request("PUT", `/files/${route}/${encodePath(path)}`, { body, headers });
  }

  get(path: string, headers: HeaderFields = {}, query: Query = {}): Promise<Answer> {
    return this.request("GET", `/files/${encodePath(path)}`, { headers, query });
  }

  post(body: unknown, headers: HeaderFields = {}, query: Query = {}): Promise<Answer> {
    return this.request("POST", "/files", { body, headers, query });
  }

  /** DELETE, which may be refused. */
  tryRemove(path: string, headers: HeaderFields = {}): Promise<Answer> {
    return this.request("DELETE", `/files/${encodePath(path)}`, { headers });
  }

  async remove(path: string): Promise<z.infer<typeof tombstone>> {
    return dataOf(await this.tryRemove(path), "delete_file", tombstone);
  }

  async restore(path: string, version: number): Promise<FileRecord> {
    return dataOf(await this.put("restore", path, { version }), "restore_file", fileRecord);
  }

  async copy(path: string, destination: string, overwrite?: boolean): Promise<FileRecord> {
    return dataOf(await this.put("copy", path, { destination, overwrite }), "copy_file", fileRecord);
  }

  async move(path: string, destination: string, overwrite?: boolean): Promise<FileRecord> {
    return dataOf(await this.put("move", path, { destination, overwrite }), "move_file", fileRecord);
  }

  async diff(path: string, query: Query = {}): Promise<z.infer<typeof diffRecord>> {
    return dataOf(await this.tryDiff(path, query), "diff_file", diffRecord);
  }

  tryDiff(path: string, query: Query = {}): Promise<Answer> {
    return this.request("GET", `/diff/${encodePath(path)}`, { query });
  }

  /** `POST /files?path=`: writes a file with these bytes. */
  async writeRaw(path: string, bytes: Uint8Array, headers: HeaderFields = {}): Promise<FileRecord> {
    return dataOf(await this.post(bytes, headers, { path }), "write_file", fileRecord);
  }

  /** The answer to a raw read: the file's bytes, or a refusal. */
  readRaw(path: string, headers: HeaderFields = {}, query: Query = {}): Promise<Answer> {
    return this.bytes("GET", path, { ...ASKS_FOR_BYTES, ...headers }, query);
  }

  bytes(method: string, path: string, headers: HeaderFields = {}, query: Query = {}): Promise<Answer> {
    return this.request(method, `/files/${encodePath(path)}`, { headers, query });
  }

  /** The entity tag of the current version, from a read as JSON. */
  async tag(path: string): Promise<string> {
    return tagOf(await this.get(path));
  }
}

/** A project that a test has created, with its key. */
export interface TestProject {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
  readonly name: string;
}

/** The files of a project that the test has created. */
export class ProjectFiles extends Files {
  constructor(api: Api, readonly project: TestProject) {
    super(api, project.key);
  }
}

function suffix(query: Query): string {
  return Object.entries(query).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("");
}
