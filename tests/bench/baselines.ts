/** The baselines that the service is compared with, over the same supabase-js client on the same stack. */
import type { SupabaseClient } from "@supabase/supabase-js";

export const BENCH_BUCKET = "bench";
const SEGMENTS_BUCKET = "filestore-segments";

export type Json = Readonly<Record<string, unknown>>;

/** An object to store, and the parameters of `filestore_commit`. */
export interface BareCommit {
  readonly name: string;
  readonly content: string;
  readonly parameters: Json;
}

/** Only the unavoidable calls to the back end. */
export class Bare {
  /** Random, since another Storage may remember earlier runs. */
  readonly #folder = `bare/${crypto.randomUUID()}`;

  constructor(private readonly supabase: SupabaseClient) {}

  /** One upload, and one call that touches a single row. */
  async write(row: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const name = `${this.#folder}/${crypto.randomUUID()}`;
    checked(await this.supabase.storage.from(BENCH_BUCKET).upload(name, bytes, OCTETS));
    checked(await this.supabase.rpc("bench_touch", { p_id: row, p_object_name: name }));
  }

  /** One call that finds the object, and one download. */
  async read(row: number): Promise<string> {
    const name: string = checked(await this.supabase.rpc("bench_find", { p_id: row }));
    return await checked(await this.supabase.storage.from(BENCH_BUCKET).download(name)).text();
  }

  /** Stores objects of one size for `editSeveral`. */
  async writeSeveral(name: string, bytesEach: number, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const object = `${this.#folder}/${name}/${index}`;
      const bytes = new Uint8Array(bytesEach);
      checked(await this.supabase.storage.from(BENCH_BUCKET).upload(object, bytes, OCTETS));
    }
  }

  /** Downloads all these objects at once, and writes one of them. */
  async editSeveral(name: string, bytesEach: number, count: number): Promise<void> {
    const downloads = Array.from({ length: count }, async (_, index) => {
      const object = checked(
        await this.supabase.storage.from(BENCH_BUCKET).download(`${this.#folder}/${name}/${index}`),
      );
      return await object.arrayBuffer();
    });
    await Promise.all(downloads);
    await this.write(5, new Uint8Array(bytesEach));
  }

  /** One of the service's own calls: the time that Postgres takes for a request, with every check. */
  async call(name: string, parameters: Json): Promise<unknown> {
    return checked(await this.supabase.rpc(name, parameters));
  }

  /** The upload of a segment, and the commit that names the segment. */
  async commit({ name, content, parameters }: BareCommit): Promise<unknown> {
    const bytes = new TextEncoder().encode(content);
    checked(await this.supabase.storage.from(SEGMENTS_BUCKET).upload(name, bytes, OCTETS));
    return await this.call("filestore_commit", parameters);
  }

  /** The call that finds a file's content, and the download of the file's only segment. */
  async content(parameters: Json): Promise<string> {
    const answer = checked(await this.supabase.rpc("filestore_content", parameters));
    const { name } = answer.value.segments[0];
    return await checked(await this.supabase.storage.from(SEGMENTS_BUCKET).download(name)).text();
  }

  /** One call that returns stored JSON. */
  async payload(name: string): Promise<unknown> {
    return checked(await this.supabase.rpc("bench_payload", { p_name: name }));
  }
}

/** The bare calls, sent from inside a function: see `bare_function.ts`. */
export class BareInFunction {
  constructor(private readonly at: { readonly bareFunctionUrl: string; readonly secretKey: string }) {}

  write(row: number, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
    return this.#send("POST", `/write/${row}`, bytes);
  }

  read(row: number): Promise<string> {
    return this.#send("GET", `/read/${row}`);
  }

  payload(name: string): Promise<string> {
    return this.#send("GET", `/payload/${name}`);
  }

  call(name: string, parameters: Json): Promise<string> {
    return this.#send("POST", `/call/${name}`, JSON.stringify(parameters));
  }

  commit(commit: BareCommit): Promise<string> {
    return this.#send("POST", "/commit", JSON.stringify(commit));
  }

  content(parameters: Json): Promise<string> {
    return this.#send("POST", "/content", JSON.stringify(parameters));
  }

  /** The same, with a body that the function parses as JSON. */
  payloadByPost(name: string, body: unknown): Promise<string> {
    return this.#send("POST", `/payload/${name}`, new TextEncoder().encode(JSON.stringify(body)));
  }

  /** The same, as a tool of a bare MCP server. */
  payloadByTool(message: Json, headers: Readonly<Record<string, string>>): Promise<string> {
    return this.#send("POST", "/mcp", JSON.stringify(message), headers);
  }

  async #send(
    method: string,
    path: string,
    body: Uint8Array<ArrayBuffer> | string | null = null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { bareFunctionUrl, secretKey } = this.at;
    const response = await fetch(bareFunctionUrl + path, {
      method,
      body,
      headers: { ...headers, apikey: secretKey },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the bare function answered ${response.status}: ${text}`);
    return text;
  }
}

/** A simple solution without this project: an object for each version, and a row in a table. */
export class ByHand {
  constructor(private readonly supabase: SupabaseClient) {}

  async write(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#put(path, ((await this.#latest(path))?.version ?? 0) + 1, bytes);
  }

  /** Downloads, joins, uploads, adds the row. */
  async append(path: string, added: Uint8Array<ArrayBuffer>): Promise<void> {
    const { version, bytes } = await this.#download(path);
    const joined = new Uint8Array(bytes.length + added.length);
    joined.set(bytes);
    joined.set(added, bytes.length);
    await this.#put(path, version + 1, joined);
  }

  /** Downloads, replaces, uploads, adds the row. */
  async edit(path: string, oldString: string, newString: string): Promise<void> {
    const { version, bytes } = await this.#download(path);
    const text = new TextDecoder().decode(bytes);
    if (!text.includes(oldString)) throw new Error("the old string is not there");
    await this.#put(path, version + 1, new TextEncoder().encode(text.replace(oldString, () => newString)));
  }

  async #download(path: string) {
    const latest = await this.#latest(path);
    if (!latest) throw new Error(`there is no ${path}`);
    const object = checked(await this.supabase.storage.from(BENCH_BUCKET).download(latest.object_name));
    return { version: latest.version, bytes: new Uint8Array(await object.arrayBuffer()) };
  }

  async #latest(path: string): Promise<{ version: number; object_name: string } | undefined> {
    const [latest] = checked(
      await this.supabase.from("bench_files").select("version, object_name").eq("path", path)
        .order("version", { ascending: false }).limit(1),
    );
    return latest;
  }

  async #put(path: string, version: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const name = `by-hand/${crypto.randomUUID()}`;
    checked(await this.supabase.storage.from(BENCH_BUCKET).upload(name, bytes, OCTETS));
    const row = { path, version, object_name: name, size: bytes.length };
    const { error } = await this.supabase.from("bench_files").insert(row);
    if (error) throw new Error(error.message);
  }
}

const OCTETS = { contentType: "application/octet-stream" };

/** The data in an answer of supabase-js. Throws if it is an error. */
function checked<T>({ data, error }: { data: T; error: { message: string } | null }): NonNullable<T> {
  if (error) throw new Error(error.message);
  if (data === null || data === undefined) throw new Error("no data");
  return data;
}
