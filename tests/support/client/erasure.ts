/** Erases for good, sweeps, and searches everything that is stored for what should be erased. */
import { z } from "zod";
import type { Service } from "../stack/service.ts";
import { dataOf, purgeRecord, redactRecord } from "./contract.ts";
import { encodePath, Files } from "./files.ts";

/** The files of a project, with a key that has every right. */
export async function administrator(service: Service, projectId: string): Promise<Files> {
  const { id, key } = await service.key(projectId);
  await service.sql("update filestore.api_keys set scopes = '{read,write,admin}' where id = $1", [id]);
  return new Files(service, key);
}

export async function purge(admin: Files, path: string, headers: Record<string, string> = {}) {
  const answer = await admin.request("DELETE", `/files/${encodePath(path)}?purge`, { headers });
  return dataOf(answer, "purge_file", purgeRecord);
}

export async function redact(admin: Files, path: string, versions: readonly number[], note?: string) {
  const answer = await admin.request("POST", `/files/redact/${encodePath(path)}`, {
    body: { versions, note },
  });
  return dataOf(answer, "redact_versions", redactRecord);
}

const slice = z.object({ data: z.object({ isDone: z.boolean() }) });

/** Runs one complete sweep, as the operator does. */
export async function sweepAll(service: Service): Promise<void> {
  for (;;) {
    const answer = await fetch(`${service.baseUrl}/sweep`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.stack.secretKey}` },
    });
    if (slice.parse(await answer.json()).data.isDone) return;
  }
}

/** Where a text is stored: `table` or `table (row)` of the database, or the name of an object. */
export async function traces(service: Service, text: string): Promise<string[]> {
  const tables = await service.sql<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_catalog.pg_class c
     join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname in ('filestore', 'storage', 'public', 'auth')`,
  );
  // Bytes are hexadecimal in a dump.
  const hex = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await service.sql<{ line: string }>(
      `select left(t::text, 300) as line from ${name} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0`,
      [text, hex],
    );
    found.push(...rows.map(({ line }) => `${name} ${line}`));
  }
  const objects = await service.sql<{ name: string }>(
    "select name from storage.objects where bucket_id = 'filestore-segments'",
  );
  for (const { name } of objects) {
    const response = await fetch(
      `${service.stack.supabaseUrl}/storage/v1/object/filestore-segments/${name}`,
      {
        headers: { authorization: `Bearer ${service.stack.secretKey}`, apikey: service.stack.secretKey },
      },
    );
    if ((await response.text()).includes(text)) found.push(name);
  }
  return found;
}

/** Adds versions with the file's latest content until its number of versions is `last`. */
export async function lengthen(
  service: Service,
  projectId: string,
  path: string,
  last: number,
): Promise<void> {
  await service.sql(
    `with file as (select id, version from filestore.files where project_id = $1 and path = $2), more as (
       insert into filestore.file_versions (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
       select v.project_id, v.file_id, n, v.mime_type, v.size, v.segment_ids, gen_random_uuid(), v.created_at
       from file f join filestore.file_versions v on v.file_id = f.id and v.version = f.version,
         generate_series(f.version + 1, $3::integer) n
       returning segment_ids)
     insert into filestore.project_usage (project_id, shard, database_bytes, versions)
     select $1, 63, sum(512 + 16 * cardinality(m.segment_ids)), count(*) from more m
     on conflict (project_id, shard) do update
       set database_bytes = project_usage.database_bytes + excluded.database_bytes,
           versions = project_usage.versions + excluded.versions`,
    [projectId, path, last],
  );
  await service.sql("update filestore.files set version = $3 where project_id = $1 and path = $2", [
    projectId,
    path,
    last,
  ]);
}
