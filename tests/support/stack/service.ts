/** The whole service as tests use it, with a recording proxy between the function and Supabase. */
import { join } from "node:path";
import { Administration } from "../../../supabase/local/admin/administration.ts";
import { newKey } from "../../../supabase/local/admin/new_key.ts";
import type { Secrets } from "../../../supabase/local/stack/secrets.ts";
import type { Stack, StackOptions } from "../../../supabase/local/stack/stack.ts";
import { type Answer, assertInvariants } from "../client/contract.ts";
import { type Api, type RequestOptions, sentOf } from "../client/api.ts";
import type { TestProject } from "../client/files.ts";
import { answerOf, send } from "../client/http.ts";
import { exchange } from "../client/raw_connection.ts";
import { assertDocumented } from "../openapi/document_check.ts";
import { RecordingProxy } from "./proxy.ts";
import { restartFunction, startBareFunction, startTestStack, type TestStack } from "./test_stack.ts";

export type Tier = "free" | "pro" | "enterprise";

/** A project's own limits; a missing one is that of its tier. */
export interface Limits {
  readonly requestsPerMinute?: number;
  readonly maxFileBytes?: number;
}

export interface TestKey {
  readonly id: string;
  readonly key: string;
}

/** Longest wait for an answer to raw bytes. */
const RAW_TIMEOUT_MILLISECONDS = 60_000;

const SNAPSHOT_TABLES = [
  ..."filestore.tiers filestore.files filestore.file_versions".split(" "),
  ..."filestore.project_usage storage.buckets".split(" "),
];

/**
 * The state of a table's rows. Every inserted or updated row gets a higher transaction number (`xmin`) than all before
 * it, and a deletion reduces the count. So count, maximum and sum together show every change, and are fast to read even
 * for a large table.
 */
const STATE_OF_ROWS = "concat_ws(' ', count(*), max(xmin::text::bigint), sum(xmin::text::bigint))";

/** The rows of a small table, without the columns that background work changes after any response. */
const contentsOf = (table: string, ...leftOut: readonly string[]) =>
  `(select coalesce(md5(string_agg(line, ',' order by line)), '')
    from (select (to_jsonb(t) - '{${leftOut}}'::text[])::text as line from ${table} t) lines)`;

/**
 * Left out are the time of a key's last use and of an object's last read (for example by an earlier test's indexing), and
 * that a project's stored answers have to be blanked, which the sweep does.
 */
const SNAPSHOT = `select jsonb_build_object(${
  SNAPSHOT_TABLES.map((table) => `'${table}', (select ${STATE_OF_ROWS} from ${table})`).join()
}, 'filestore.segments', (
  select ${STATE_OF_ROWS} from filestore.segments s
  where not exists (select from filestore.dead_segments d where d.segment_id = s.id)
), 'filestore.api_keys', ${contentsOf("filestore.api_keys", "last_used_at", "has_written")},
'filestore.projects', ${contentsOf("filestore.projects", "answers_blank_through", "answers_blank_since")},
'storage.objects', (
  select concat_ws(' ', count(*), sum(hashtextextended(
    concat_ws(' ', o.id, o.bucket_id, o.name, o.owner, o.version, o.metadata, o.created_at, o.updated_at), 0)::numeric))
  from storage.objects o
  where not exists (select from filestore.dead_segments d where d.segment_id::text = split_part(o.name, '/', 3))
)) as states, array(select d.segment_id from filestore.dead_segments d) as dead`;

export async function startService(options: Partial<StackOptions> = {}): Promise<Service> {
  const opened = Promise.withResolvers<RecordingProxy>();
  const functionSupabaseUrl = async (backendUrl: string) => {
    opened.resolve(RecordingProxy.open(backendUrl));
    return (await opened.promise).url;
  };
  const parts = await startTestStack({ functionSupabaseUrl, ...options });
  return new Service(parts, await opened.promise);
}

export class Service implements Api {
  readonly stack: Stack;
  /** Lines that the function has logged so far. */
  readonly log: readonly string[];
  /** Secrets of the local Supabase, such as the one that signs tokens. */
  readonly secrets: Secrets;
  readonly #administration: Administration;
  /** Set once a test has moved a window into the future; see `freezeWindow`. */
  #isWindowFrozen = false;

  constructor(private readonly parts: TestStack, readonly proxy: RecordingProxy) {
    ({ stack: this.stack, log: this.log, secrets: this.secrets } = parts);
    this.#administration = new Administration(this.stack.backendUrl, this.stack.secretKey);
  }

  /** The same service for another test file, so that one file's frozen windows do not loosen the checks of another. */
  forAnotherFile(): Service {
    return new Service(this.parts, this.proxy);
  }

  get baseUrl(): string {
    return this.stack.baseUrl;
  }

  /** A new project with one key. */
  async project(tier: Tier = "enterprise", limits: Limits = {}): Promise<TestProject> {
    const name = `test ${crypto.randomUUID()}`;
    const { id } = await this.#administration.createProject(name, tier);
    if (Object.keys(limits).length > 0) await this.setTier(id, tier, limits);
    const { id: keyId, key } = await this.key(id);
    return { id, keyId, key, name };
  }

  async setTier(projectId: string, tier: Tier, limits: Limits = {}): Promise<void> {
    await this.#administration.setTier(projectId, tier, limits);
  }

  /** A further key of the project. */
  async key(projectId: string, expiresAt: string | null = null): Promise<TestKey> {
    const { apiKey, stored } = await newKey();
    const { id } = await this.#administration.createKey(projectId, "test", stored, { expiresAt });
    return { id, key: apiKey };
  }

  async revokeKey(keyId: string): Promise<void> {
    await this.#administration.revokeKey(keyId);
  }

  /**
   * Sends a request and checks what every response must fulfil. `path` below the base URL is sent unchanged; `key` null
   * sends none.
   */
  async request(
    key: string | null,
    method: string,
    path: string,
    options?: RequestOptions,
  ): Promise<Answer> {
    const sentAt = Date.now();
    const answer = await send(sentOf(this.baseUrl, key, method, path, options));
    await this.#check(answer, new URL(this.baseUrl).pathname + path, sentAt);
    return answer;
  }

  /** Sends bytes unchanged: request line, headers, blank line and any body. */
  async requestRaw(method: string, request: string): Promise<Answer> {
    const sentAt = Date.now();
    const { answers: [raw] } = await exchange(this.stack.supabaseUrl, {
      parts: [new TextEncoder().encode(request)],
      answers: 1,
      isHead: method === "HEAD",
      timeoutMilliseconds: RAW_TIMEOUT_MILLISECONDS,
    });
    if (raw === undefined) throw new Error(`no answer to ${request.slice(0, 200)}`);
    const read = answerOf(method, raw.status, raw.headers, new TextEncoder().encode(raw.text));
    await this.#check(read, request.split(" ")[1] ?? "", sentAt);
    return read;
  }

  async #check(answer: Answer, path: string, sentAt: number): Promise<void> {
    // No request may cause a defect. Only the log says where it happened, and the log arrives separately.
    if (answer.status === 500 && answer.text.includes("INTERNAL_ERROR")) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw new Error(`${answer.text}\n${this.log.filter((line) => line.includes('"defect"')).at(-1)}`);
    }
    assertInvariants(answer, { sentAt, isWindowFrozen: this.#isWindowFrozen });
    assertDocumented(answer, path);
  }

  sql<Row = Record<string, unknown>>(statement: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return this.stack.exec<Row>(statement, parameters);
  }

  /**
   * The state of each table and of the objects on disk, which differs after any change of stored data, of any project.
   * It leaves out what a refused request may change, the rate window and the time of a key's last use; and unneeded
   * segments, which the function may sweep after any response.
   */
  async tables(): Promise<Record<string, string>> {
    const [row] = await this.sql<{ states: Record<string, string>; dead: readonly string[] }>(SNAPSHOT);
    if (!row) throw new Error("no snapshot");
    const dead = new Set(row.dead);
    const objects = this.objectsOnDisk().filter((name) => !name.split("/").some((part) => dead.has(part)));
    return { ...row.states, "objects on disk": objects.join("\n") };
  }

  /** The names of the stored segments, from the bucket's folder. */
  objectsOnDisk(): string[] {
    const files: string[] = [];
    collectFiles(this.parts.dataDir, files);
    return files.filter((file) => /\bfilestore-segments\b/.test(file)).sort();
  }

  /**
   * Moves the project's window ten minutes ahead, so that no minute ends it, with `requestCount` requests counted. The
   * clock then cannot interrupt a test that counts up to the limit.
   */
  async freezeWindow(projectId: string, requestCount = 0): Promise<void> {
    this.#isWindowFrozen = true;
    await this.sql(
      `insert into filestore.rate_windows (project_id, shard, window_start, request_count)
       select $1, n, date_trunc('minute', clock_timestamp()) + interval '10 minutes', ($2::integer + 64 - n) / 64
       from generate_series(1, 64) n
       on conflict (project_id, shard) do update
         set window_start = excluded.window_start, request_count = excluded.request_count, request_id = null`,
      [projectId, requestCount],
    );
  }

  /** Ends the function's process; the stack starts a new one, with nothing in memory. */
  restartFunction(): Promise<void> {
    return restartFunction(this.baseUrl, () => this.stack.functionPids);
  }

  /**
   * Runs `work` with the address of an additional process of the function, without a gateway: for requests that the
   * gateway would change, and for a process with nothing in memory. `variables`: those that an operator sets.
   */
  async withBareFunction(
    work: (origin: string) => Promise<void>,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const bare = await startBareFunction(this, this.proxy.url, { variables });
    try {
      await work(bare.origin);
    } finally {
      await bare.stop();
    }
  }

  /** Sends a request to any address, and checks what every response must fulfil. */
  async requestAt(
    url: string,
    method: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const sentAt = Date.now();
    const answer = await send({ method, url, headers: new Headers(headers), body: null });
    await this.#check(answer, url.slice(new URL(url).origin.length), sentAt);
    return answer;
  }

  async stop(): Promise<void> {
    await this.parts.stop();
    await this.proxy.close();
  }
}

function collectFiles(directory: string, into: string[]): void {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (name === "pglite") continue;
    if (isDirectory) collectFiles(join(directory, name), into);
    else into.push(join(directory, name));
  }
}
