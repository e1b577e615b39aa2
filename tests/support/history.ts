/** The operations of history and safe writes as a client uses them, beside those of `files.ts`. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import {
  type Answer,
  assertInvariants,
  assertRefused,
  dataOf,
  type FileRecord,
  fileRecord,
  type OperationName,
} from "./contract.ts";
import { encodePath, Files } from "./files.ts";
import type { BackendCall } from "./proxy.ts";
import {
  type Limits,
  type RequestOptions,
  type Service,
  startService,
  type TestProject,
  type Tier,
} from "./service.ts";

export type HeaderFields = Readonly<Record<string, string>>;
type Query = NonNullable<RequestOptions["query"]>;

/** The answer of a delete. */
export const tombstone = fileRecord.extend({ deleted: z.literal(true), size: z.literal(0) });

export const diffRecord = z.strictObject({
  from: z.int().min(0),
  to: z.int().min(1),
  diff: z.string(),
  additions: z.int().min(0),
  deletions: z.int().min(0),
});

/** A response whose body is kept as bytes. */
export interface BytesAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same with the body as JSON, where it is that. */
  readonly answer: Answer;
}

export const ASKS_FOR_BYTES = { accept: "application/octet-stream" } as const;

/** The files of one project with their history. */
export class History extends Files {
  constructor(service: Service, readonly project: TestProject) {
    super(service, project.key);
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

  /** `POST /files?path=`: a file of these bytes. */
  async writeRaw(path: string, bytes: Uint8Array, headers: HeaderFields = {}): Promise<FileRecord> {
    return dataOf(await this.post(bytes, headers, { path }), "write_file", fileRecord);
  }

  /** The bytes themselves, or whatever is answered instead of them. */
  readRaw(path: string, headers: HeaderFields = {}, query: Query = {}): Promise<BytesAnswer> {
    return this.bytes("GET", path, { ...ASKS_FOR_BYTES, ...headers }, query);
  }

  async bytes(
    method: string,
    path: string,
    headers: HeaderFields = {},
    query: Query = {},
  ): Promise<BytesAnswer> {
    const url = new URL(`${this.service.baseUrl}/files/${encodePath(path)}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const sentAt = Date.now();
    const response = await fetch(url, { method, headers: { ...headers, "x-api-key": this.key } });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const isJson = response.headers.get("content-type")?.startsWith("application/json;") ?? false;
    const text = isJson ? new TextDecoder().decode(bytes) : "";
    const answer: Answer = {
      method,
      status: response.status,
      headers: response.headers,
      text,
      body: text === "" ? undefined : JSON.parse(text),
    };
    assertInvariants(answer, { sentAt, isWindowFrozen: false });
    return { status: response.status, headers: response.headers, bytes, answer };
  }

  /** The entity tag of the current version, as a read in JSON shows it. */
  async tag(path: string): Promise<string> {
    return tagOf(await this.get(path));
  }
}

/** The entity tag of an answer, which must have one. */
export function tagOf({ headers }: { readonly headers: Headers }): string {
  const tag = headers.get("etag");
  if (tag === null) throw new Error("the answer has no ETag");
  return tag;
}

/** Asserts that a file exists where the client made its absence a condition: 412, not 409. */
export function assertNotCreated(answer: Answer): Record<string, unknown> {
  assertEquals(answer.status, 412, answer.text.slice(0, 500));
  const { error, details } = z.looseObject({
    error: z.looseObject({ code: z.string() }),
    details: z.record(z.string(), z.unknown()),
  }).parse(answer.body);
  assertEquals(error.code, "FILE_ALREADY_EXISTS");
  return details;
}

/** Asserts 412 PRECONDITION_FAILED, with the version that the file is at (null: there never was one). */
export function assertStale(answer: Answer, version: number | null, operation?: OperationName): void {
  assertEquals(assertRefused(answer, "PRECONDITION_FAILED", operation), { version });
}

/** Asserts that there is no file, and which tombstone says so. */
export function assertDeleted(answer: Answer, deletedVersion: number, operation?: OperationName): void {
  assertEquals(assertRefused(answer, "FILE_NOT_FOUND", operation), { deletedVersion });
}

/** What the function asked of its back end on behalf of a request: the background sweep is not on its behalf. */
export interface Traffic {
  /** Names of the SQL functions, in order. */
  readonly database: readonly string[];
  /** Objects that were stored, fetched and removed. */
  readonly puts: number;
  readonly gets: number;
  readonly removals: number;
}

/** The traffic that `work` made. */
export async function trafficOf(service: Service, work: () => Promise<unknown>): Promise<Traffic> {
  const calls = (await service.proxy.during(work)).filter(({ path }) => !path.includes("sweep"));
  const storage = calls.filter(({ target }) => target === "storage");
  return {
    database: calls.filter(({ target }) => target === "database").map(functionName),
    puts: storage.filter(({ method }) => method === "POST" || method === "PUT").length,
    gets: storage.filter(({ method }) => method === "GET").length,
    removals: storage.filter(({ method }) => method === "DELETE").length,
  };
}

function functionName({ path }: BackendCall): string {
  return path.replace(/^.*\/rpc\//, "").replace(/\?.*$/, "");
}

/** No objects were touched. */
export const NO_OBJECTS = { puts: 0, gets: 0, removals: 0 } as const;

export interface HistorySuite {
  readonly service: Service;
  /** The files of a new project of its own. Default tier: enterprise, no limits. */
  files(tier?: Tier, limits?: Limits): Promise<History>;
}

/** One service for all tests of a file, stopped when the last one has ended. */
export async function historySuite(options: Parameters<typeof startService>[0] = {}): Promise<HistorySuite> {
  const service = await startService(options);
  Deno.test.afterAll(() => service.stop());
  return {
    service,
    files: async (tier = "enterprise", limits = {}) =>
      new History(service, await service.project(tier, limits)),
  };
}
