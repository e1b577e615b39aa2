/** The operations of the database, called as the function `api` calls them, and projects to call them for. */
import type postgres from "postgres";

type Sql = postgres.Sql | postgres.TransactionSql;
export type Json = { [key: string]: postgres.JSONValue };

export interface Refusal {
  readonly code: string;
  readonly details: Json;
}

export interface Answer<Value = Json> {
  readonly grant?: Json;
  readonly rate?: {
    readonly limit: number | null;
    readonly remaining: number | null;
    readonly reset: number;
  };
  readonly value?: Value;
  readonly refusal?: Refusal;
}

export interface FileRecord {
  readonly id: string;
  readonly path: string;
  readonly version: number;
  readonly size: number;
}

export interface Segment {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly newlines: number;
  readonly isText: boolean;
  readonly endsWithNewline: boolean;
}

export interface Project {
  readonly id: string;
  /** Hexadecimal, as the function sends it. */
  readonly keyHash: string;
}

export interface ProjectOptions {
  readonly tier?: "free" | "pro" | "enterprise";
  readonly requestsPerMinute?: number;
  readonly maxProjectBytes?: number;
  /** The owner's account, created if it does not exist. Default: no owner. */
  readonly ownerId?: string;
  /** The id, if a test needs a certain one. Default: random. */
  readonly id?: string;
  readonly keyId?: string;
}

/** Creates a project and its key directly, as the tables' owner. Default tier: enterprise, so nothing is limited. */
export async function makeProject(sql: Sql, name: string, options: ProjectOptions = {}): Promise<Project> {
  const keyHash = crypto.getRandomValues(new Uint8Array(32)).toHex();
  if (options.ownerId !== undefined) {
    await sql`insert into auth.users (id) values (${options.ownerId}) on conflict do nothing`;
  }
  const [project] = await sql<{ id: string }[]>`
    insert into filestore.projects (id, owner_id, name, tier, requests_per_minute, max_project_bytes)
    values (${options.id ?? crypto.randomUUID()}, ${options.ownerId ?? null}, ${name},
      ${options.tier ?? "enterprise"}, ${options.requestsPerMinute ?? null}, ${
    options.maxProjectBytes ?? null
  })
    returning id`;
  if (project === undefined) throw new Error("no project was made");
  await sql`
    insert into filestore.api_keys (id, project_id, key_hash, prefix)
    values (${options.keyId ?? crypto.randomUUID()}, ${project.id}, decode(${keyHash}, 'hex'), 'oa_test')`;
  return { id: project.id, keyHash };
}

/** The name of a segment's object uploaded today: a commit refuses segments uploaded days ago. */
export function objectName(projectId: string, segmentId: string): string {
  return `${projectId}/${new Date().toISOString().slice(0, 10).replaceAll("-", "")}/${segmentId}`;
}

/** A segment that was never uploaded, since the database does not read the bytes. */
export function newSegment(project: Project, size = 10, id: string = crypto.randomUUID()): Segment {
  return {
    id,
    name: objectName(project.id, id),
    size,
    sha256: "00".repeat(32),
    newlines: 0,
    isText: true,
    endsWithNewline: false,
  };
}

export interface Commit {
  readonly path: string;
  readonly segments: readonly Segment[];
  readonly commitId?: string;
  readonly mimeType?: string;
  readonly baseVersion?: number;
  readonly segmentIds?: readonly string[];
  readonly destination?: string;
  readonly overwrite?: boolean;
  readonly provenance?: { readonly runId?: string; readonly actor?: string; readonly note?: string };
  /** The version to restore. */
  readonly version?: number;
}

export interface CommitValue {
  readonly file: FileRecord;
  readonly segments: readonly Segment[] | null;
}

export type CommitKind = "write" | "overwrite" | "append" | "edit" | "delete" | "restore" | "copy" | "move";

/** `requestId`: the id of a request not yet counted. Default null, which leaves the rate row unchanged. */
export function commit(
  sql: Sql,
  project: Project,
  kind: CommitKind,
  change: Commit,
  requestId: string | null = null,
): Promise<Answer<CommitValue>> {
  const commitId = crypto.randomUUID();
  const body = JSON.stringify({ commitId, ...kind === "write" ? { mimeType: "text/plain" } : {}, ...change });
  return answered(sql`select public.filestore_commit(
    ${project.keyHash}, ${requestId}::uuid, ${kind}, ${body}::text::jsonb) as answer`);
}

/** Replaces the run of segments with one of the same size. False if the segment list no longer contains the run. */
export function compact(
  sql: Sql,
  project: Project,
  path: string,
  run: readonly string[],
  compacted: readonly Segment[],
): Promise<Answer<boolean>> {
  return answered(sql`select public.filestore_compact(
    ${project.keyHash}, null, ${path}, ${[...run]}::uuid[], ${
    JSON.stringify(compacted)
  }::text::jsonb) as answer`);
}

export function admit(
  sql: Sql,
  { keyHash }: Project,
  requestId: string | null = crypto.randomUUID(),
  path: string | null = null,
): Promise<Answer> {
  return answered(sql`select public.filestore_authorize(${keyHash}, ${requestId}::uuid, ${path}) as answer`);
}

/** The latest version's record, and its segments. */
export function content(
  sql: Sql,
  { keyHash }: Project,
  path: string,
  version: number | null = null,
): Promise<Answer<{ file: FileRecord; segments: Segment[] }>> {
  return answered(sql`select public.filestore_content(${keyHash}, null, ${path}, ${version}) as answer`);
}

export function record(
  sql: Sql,
  { keyHash }: Project,
  path: string,
  version: number | null = null,
  requestId: string | null = null,
): Promise<Answer> {
  return answered(sql`
    select public.filestore_content(
      ${keyHash}, ${requestId}::uuid, ${path}, ${version}, p_with_segments => false) as answer`);
}

export function versions(
  sql: Sql,
  { keyHash }: Project,
  path: string,
  limit = 100,
  offset = 0,
): Promise<Answer> {
  return answered(
    sql`select public.filestore_versions(${keyHash}, null, ${path}, ${limit}, ${offset}) as answer`,
  );
}

export function list(
  sql: Sql,
  { keyHash }: Project,
  query: Json,
  requestId: string | null = null,
): Promise<Answer> {
  const page = { directory: "", recursive: false, limit: 100, offset: 0, sortBy: "path", sortOrder: "asc" };
  const body = JSON.stringify({ ...page, ...query });
  return answered(
    sql`select public.filestore_list(${keyHash}, ${requestId}::uuid, ${body}::text::jsonb) as answer`,
  );
}

/** The value of an answer. Throws if it is a refusal. */
export function valueOf<Value>(answer: Answer<Value>): Value {
  if (answer.value === undefined) throw new Error(`refused: ${JSON.stringify(answer.refusal)}`);
  return answer.value;
}

async function answered<Value>(rows: postgres.PendingQuery<postgres.Row[]>): Promise<Answer<Value>> {
  const [row] = await rows;
  if (row === undefined) throw new Error("no answer");
  return row["answer"];
}
