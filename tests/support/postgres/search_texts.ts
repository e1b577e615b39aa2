/** Stores texts in the search index as the function does, without waiting for a lease. */
import type postgres from "postgres";
import type { Project } from "./postgres_filestore.ts";

export interface StoredText {
  readonly project: Project;
  readonly fileId: string;
  readonly path: string;
  /** Null: the file is not indexed. */
  readonly content: string | null;
  readonly version?: number;
  readonly isDeleted?: boolean;
}

/** Stores the texts as the result of one lease. Returns the number of files that the lease still covered: all of them. */
export async function storeTexts(sql: postgres.Sql, texts: readonly StoredText[]): Promise<number> {
  const leaseId = crypto.randomUUID();
  const leased = texts.map(({ project, fileId, path, content, version = 1, isDeleted = false }) => ({
    projectId: project.id,
    fileId,
    version,
    path,
    mimeType: "text/markdown",
    isDeleted,
    content,
    skipped: content === null ? "not_text" : null,
    chunks: [],
  }));
  const json = JSON.stringify(leased);
  await sql`
    insert into filestore.search_queue as q (project_id, file_id, version, path, bytes, due_at, lease_id)
    select t."projectId", t."fileId", t.version, t.path, 1, now(), ${leaseId}
    from jsonb_to_recordset(${json}::text::jsonb) t ("projectId" uuid, "fileId" uuid, version integer, path text)
    on conflict (project_id, file_id) do update set version = excluded.version, lease_id = excluded.lease_id`;
  const [row] = await sql<{ stored: number }[]>`
    select public.filestore_search_store(${leaseId}, ${json}::text::jsonb) as stored`;
  return row?.stored ?? 0;
}
