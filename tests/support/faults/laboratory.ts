/** The whole service for tests of faults, and what it has stored, without ids and times. */
import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { newKey } from "../../../supabase/local/admin/new_key.ts";
import type { Secrets } from "../../../supabase/local/stack/secrets.ts";
import type { Stack, StackOptions } from "../../../supabase/local/stack/stack.ts";
import { type RequestOptions, sentOf } from "../client/api.ts";
import { concatenate } from "../../../supabase/functions/api/runtime/bytes.ts";
import {
  type BareFunction,
  type BareFunctionOptions,
  startBareFunction,
  startTestStack,
  type TestStack,
} from "../stack/test_stack.ts";

export interface Tenant {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
  readonly keyHash: string;
}

/** A response read to its end, or to the point where it broke off. */
export interface Outcome {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  /** Whether the body broke off. */
  readonly broken: boolean;
}

export interface Sending extends Omit<RequestOptions, "query"> {
  readonly method: string;
  readonly path: string;
}

/** The state of a project without ids and times: equal after equal operations. */
export interface ProjectState {
  readonly files: unknown;
  readonly versions: unknown;
  /** The number of segments that no readable version names. */
  readonly dead: unknown;
  readonly idempotencyKeys: unknown;
  readonly branches: unknown;
}

/** The project's objects in the bucket. */
export interface Objects {
  /** Names below the project's prefix, sorted. */
  readonly stored: readonly string[];
  readonly unreferenced: readonly string[];
}

interface SegmentRow {
  readonly id: string;
  readonly name: string;
  readonly sha256: string;
}

export class Laboratory {
  readonly stack: Stack;
  readonly log: readonly string[];
  readonly dataDir: string;
  readonly secrets: Secrets;

  readonly #bareFunctions: BareFunction[] = [];

  protected constructor(private readonly parts: TestStack) {
    ({
      stack: this.stack,
      log: this.log,
      dataDir: this.dataDir,
      secrets: this.secrets,
    } = parts);
  }

  static async start(options: Partial<StackOptions> = {}): Promise<Laboratory> {
    return new Laboratory(await startTestStack(options));
  }

  /** Starts a further process of the function without a gateway. It ends with the laboratory, if not before. */
  async bareFunction(options: BareFunctionOptions = {}): Promise<BareFunction> {
    const started = await startBareFunction(this, this.stack.backendUrl, options);
    this.#bareFunctions.push(started);
    return started;
  }

  async stop(): Promise<void> {
    for (const { stop } of this.#bareFunctions) await stop();
    await this.parts.stop();
  }

  /** A new project with one key, which has every right. */
  async tenant(tier = "enterprise"): Promise<Tenant> {
    const { apiKey, stored } = await newKey();
    const [row] = await this.stack.exec<{ id: string; key_id: string }>(
      `with p as (insert into filestore.projects (name, tier) values ($1, $2) returning id)
       insert into filestore.api_keys (project_id, key_hash, prefix, scopes)
       select p.id, decode($3, 'hex'), $4, '{read,write,admin}' from p returning project_id as id, id as key_id`,
      [crypto.randomUUID(), tier, stored.hash, stored.prefix],
    );
    if (!row) throw new Error("no project was made");
    return { id: row.id, keyId: row.key_id, key: apiKey, keyHash: stored.hash };
  }

  /** Sends a request to the stack, or to another address. Throws unless it succeeds. */
  async prepare(tenant: Tenant, sending: Sending, baseUrl = this.stack.baseUrl): Promise<Outcome> {
    const outcome = await send(baseUrl, tenant.key, sending);
    if (outcome.status !== 200 && outcome.status !== 206) {
      throw new Error(`${sending.method} ${sending.path}: ${text(outcome)}`);
    }
    return outcome;
  }

  send(tenant: Tenant, sending: Sending): Promise<Outcome> {
    return send(this.stack.baseUrl, tenant.key, sending);
  }

  /** The path of a bucket's object on disk. */
  objectFile(name: string): string {
    return join(this.dataDir, "storage", "filestore-segments", name);
  }

  /**
   * The project's state, once the sweep has deleted the files of branches that have ended. Throws if a version names
   * bytes that are missing.
   */
  async state(tenant: Tenant): Promise<ProjectState> {
    await this.stack.exec("select filestore.sweep_branches($1)", [tenant.id]);
    const [row] = await this.stack.exec<{ state: ProjectState; segments: SegmentRow[] }>(STATE, [tenant.id]);
    if (!row) throw new Error("no state");
    for (const { name, sha256 } of row.segments) {
      const bytes = await Deno.readFile(this.objectFile(name));
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
      assertEquals(digest, sha256, `the bytes of ${name}`);
    }
    return row.state;
  }

  async objects(tenant: Tenant): Promise<Objects> {
    const rows = await this.stack.exec<{ name: string; named: boolean }>(
      `select o.name, exists (select from filestore.segments s where s.id::text = split_part(o.name, '/', 3)) as named
       from storage.objects o where o.bucket_id = 'filestore-segments' and o.name like $1 order by o.name`,
      [`${tenant.id}/%`],
    );
    return {
      stored: rows.map(({ name }) => name),
      unreferenced: rows.filter(({ named }) => !named).map(({ name }) => name),
    };
  }

  /** The segments of a file's version, in order. */
  async segments(tenant: Tenant, path: string, version = 1): Promise<SegmentRow[]> {
    return await this.stack.exec<SegmentRow>(
      `select s.id, s.project_id || '/' || to_char(s.stored_on, 'YYYYMMDD') || '/' || s.id as name,
              encode(s.sha256, 'hex') as sha256
       from filestore.files f
       join filestore.file_versions v on v.file_id = f.id and v.version = $3,
       unnest(v.segment_ids) with ordinality i (id, position) join filestore.segments s on s.id = i.id
       where f.project_id = $1 and f.path = $2 order by i.position`,
      [tenant.id, path, version],
    );
  }
}

/** Returns the value. Throws if it is undefined. */
export function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("what the test needs is not there");
  return value;
}

/** Content is identified by the checksums of its segments if every order of events gives the same ones, else by its size. */
const STATE = `
with versions as (
  select f.path, v.version, v.size, v.mime_type, v.is_deleted, v.segment_ids
  from filestore.files f join filestore.file_versions v on v.file_id = f.id
  where f.project_id = $1
)
select jsonb_build_object(
  'files', (
    select jsonb_agg(jsonb_build_object(
      'path', f.path, 'version', f.version, 'size', f.size, 'type', f.mime_type, 'deleted', f.is_deleted,
      'versions', (
        select jsonb_agg(jsonb_build_array(v.version, v.size, v.mime_type, v.is_deleted, (
          select jsonb_agg(encode(s.sha256, 'hex') order by i.position)
          from unnest(v.segment_ids) with ordinality i (id, position) join filestore.segments s on s.id = i.id
        )) order by v.version) from versions v where v.path = f.path),
      'hasItsSize', f.size = (select coalesce(sum(s.size), 0) from unnest(f.segment_ids) i (id)
        join filestore.segments s on s.id = i.id)
    ) order by f.path) from filestore.files f where f.project_id = $1),
  -- Not the bytes: a compaction, which may come later, adds to them.
  'versions', (select sum(u.versions) from filestore.project_usage u where u.project_id = $1),
  'dead', (select count(*) from filestore.dead_segments d where d.project_id = $1),
  'idempotencyKeys', (
    select jsonb_agg(jsonb_build_array(k.key, i.response ->> 'version') order by k.key)
    from filestore.idempotency_keys i
    -- A commit of several files without a key has its own id for one.
    cross join lateral (select case when ascii(i.key) = 1 then 'own' else i.key end) k (key)
    where i.project_id = $1),
  'branches', (
    select jsonb_agg(jsonb_build_array(b.name, b.state, b.file_count, b.due_at is null, (
      select count(*) from filestore.branch_files o where o.project_id = $1 and o.branch = b.name)) order by b.name)
    from filestore.branches b where b.project_id = $1)
) as state, (
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', s.id, 'name', s.project_id || '/' || to_char(s.stored_on, 'YYYYMMDD') || '/' || s.id,
    'sha256', encode(s.sha256, 'hex'))), '[]')
  from filestore.segments s
  where s.project_id = $1 and s.id not in (select d.segment_id from filestore.dead_segments d)) as segments`;

export async function send(baseUrl: string, key: string | null, sending: Sending): Promise<Outcome> {
  const { url, ...sent } = sentOf(baseUrl, key, sending.method, sending.path, sending);
  return asOfRoute(sending, await outcomeOf(await fetch(url, sent)));
}

export async function outcomeOf({ status, headers, body }: Response): Promise<Outcome> {
  const chunks: Uint8Array[] = [];
  let broken = false;
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
  } catch {
    broken = true;
  }
  return { status, headers, bytes: concatenate(chunks), broken };
}

/** Converts a tool's failure, which is text, to a route's: status, code and header. */
export function asOfRoute({ path }: Sending, outcome: Outcome): Outcome {
  if (path !== "/mcp") return outcome;
  const { result } = JSON.parse(text(outcome));
  if (result?.isError !== true) return outcome;
  const [, code, message = ""] = /^([A-Z_]+): ([^]*)$/.exec(result.content[0].text) ?? [];
  const headers = new Headers(outcome.headers);
  if (/Wait two seconds and call again\./.test(message)) headers.set("retry-after", "2");
  const bytes = new TextEncoder().encode(JSON.stringify({ success: false, error: { code, message } }));
  return { ...outcome, status: code === "SERVICE_UNAVAILABLE" ? 503 : 422, headers, bytes };
}

export function text({ bytes }: Outcome): string {
  return new TextDecoder().decode(bytes);
}

/** The code of a refusal; undefined for a success. Throws if the refusal is not in the envelope. */
export function codeOf(outcome: Outcome): string | undefined {
  if (outcome.status < 400) return undefined;
  const { success, error } = JSON.parse(text(outcome));
  assertEquals(success, false);
  assertEquals([typeof error.code, typeof error.message], ["string", "string"]);
  return error.code;
}
