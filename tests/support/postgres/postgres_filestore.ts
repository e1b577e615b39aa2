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
export async function commit(
  sql: Sql,
  project: Project,
  kind: CommitKind,
  change: Commit,
  requestId: string | null = null,
): Promise<Answer<CommitValue>> {
  const body = {
    commitId: crypto.randomUUID(),
    ...kind === "write" ? { mimeType: "text/plain" } : {},
    ...change,
  };
  const [row] = await sql<{ answer: Answer<CommitValue> }[]>`
    select public.filestore_commit(${project.keyHash}, ${requestId}::uuid, ${kind}, ${
    JSON.stringify(body)
  }::text::jsonb) as answer`;
  return answered(row);
}

/** Replaces the run of segments by one of the same size. False if the segment list no longer contains the run. */
export async function compact(
  sql: Sql,
  project: Project,
  path: string,
  run: readonly string[],
  compacted: readonly Segment[],
): Promise<Answer<boolean>> {
  const [row] = await sql<{ answer: Answer<boolean> }[]>`
    select public.filestore_compact(
      ${project.keyHash}, null, ${path}, ${[...run]}::uuid[], ${
    JSON.stringify(compacted)
  }::text::jsonb) as answer`;
  return answered(row);
}

export async function admit(
  sql: Sql,
  project: Project,
  requestId: string | null = crypto.randomUUID(),
  path: string | null = null,
): Promise<Answer> {
  const [row] = await sql<{ answer: Answer }[]>`
    select public.filestore_authorize(${project.keyHash}, ${requestId}::uuid, ${path}) as answer`;
  return answered(row);
}

/** The latest version's record, and its segments. */
export async function content(
  sql: Sql,
  project: Project,
  path: string,
  version: number | null = null,
): Promise<Answer<{ file: FileRecord; segments: Segment[] }>> {
  const [row] = await sql<{ answer: Answer<{ file: FileRecord; segments: Segment[] }> }[]>`
    select public.filestore_content(${project.keyHash}, null, ${path}, ${version}) as answer`;
  return answered(row);
}

export async function record(
  sql: Sql,
  project: Project,
  path: string,
  version: number | null = null,
  requestId: string | null = null,
): Promise<Answer> {
  const [row] = await sql<{ answer: Answer }[]>`
    select public.filestore_content(${project.keyHash}, ${requestId}::uuid, ${path}, ${version}, p_with_segments => false) as answer`;
  return answered(row);
}

export async function versions(
  sql: Sql,
  project: Project,
  path: string,
  limit = 100,
  offset = 0,
): Promise<Answer> {
  const [row] = await sql<{ answer: Answer }[]>`
    select public.filestore_versions(${project.keyHash}, null, ${path}, ${limit}, ${offset}) as answer`;
  return answered(row);
}

export async function list(
  sql: Sql,
  project: Project,
  query: Json,
  requestId: string | null = null,
): Promise<Answer> {
  const whole = {
    directory: "",
    recursive: false,
    limit: 100,
    offset: 0,
    sortBy: "path",
    sortOrder: "asc",
    ...query,
  };
  const [row] = await sql<{ answer: Answer }[]>`
    select public.filestore_list(${project.keyHash}, ${requestId}::uuid, ${
    JSON.stringify(whole)
  }::text::jsonb) as answer`;
  return answered(row);
}

/** The value of an answer. Throws if it is a refusal. */
export function valueOf<Value>(answer: Answer<Value>): Value {
  if (answer.value === undefined) throw new Error(`refused: ${JSON.stringify(answer.refusal)}`);
  return answer.value;
}

function answered<Value>(row: { answer: Value } | undefined): Value {
  if (row === undefined) throw new Error("no answer");
  return row.answer;
}
