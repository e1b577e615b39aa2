/** The operations as a client uses them: each call must succeed and answer the contract's record, nothing else. */
import {
  type Answer,
  dataOf,
  editRecord,
  fileList,
  type FileRecord,
  fileRecord,
  readRecord,
  versionList,
} from "./contract.ts";
import type { RequestOptions, Service } from "./service.ts";

type Query = NonNullable<RequestOptions["query"]>;

/** A file's path in a URL, as generated clients without special care write it. */
export function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** The files of one project, by one key. */
export class Files {
  constructor(readonly service: Service, readonly key: string) {}

  request(method: string, path: string, options?: RequestOptions): Promise<Answer> {
    return this.service.request(this.key, method, path, options);
  }

  async write(path: string, content: string, more: Record<string, unknown> = {}): Promise<FileRecord> {
    const answer = await this.request("POST", "/files", { body: { path, content, ...more } });
    return dataOf(answer, "write_file", fileRecord);
  }

  /** Writes bytes by base64. */
  writeBytes(path: string, bytes: Uint8Array, more: Record<string, unknown> = {}): Promise<FileRecord> {
    return this.write(path, bytes.toBase64(), { isBase64: true, ...more });
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

  /** The content's bytes, whichever way they came. */
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
}

function suffix(query: Query): string {
  return Object.entries(query).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join("");
}
