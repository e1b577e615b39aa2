/** Creates large projects in SQL, with the rows that as many requests would leave, without their bytes. */
import type { Project } from "./bench_stack.ts";

/** Runs SQL: the stack, or a test's own connection. */
export interface Database {
  script(sql: string): Promise<unknown>;
}

/** Files of a project, spread over directories of the same size two levels deep. */
export interface Tree {
  readonly files: number;
  readonly filesPerDirectory: number;
  readonly filesOnly?: boolean;
}

/** Directories on the first level. */
const TOP_DIRECTORIES = 10;

/** A directory that every tree contains. */
export const SOME_DIRECTORY = "top-3/sub-00003";

/** The path of file n, counted from 0. */
export function pathIn(filesPerDirectory: number, n: number): string {
  const directory = Math.floor(n / filesPerDirectory);
  return `top-${directory % TOP_DIRECTORIES}/sub-${String(directory).padStart(5, "0")}/file-${
    String(n).padStart(7, "0")
  }.txt`;
}

/**
 * Adds files to each project, with one version of one segment each. To save most of the time, foreign keys are not
 * checked and indexes are rebuilt afterwards. With `filesOnly` there are no versions and segments.
 */
export async function populate(
  database: Database,
  projects: readonly Pick<Project, "id">[],
  { files, filesPerDirectory, filesOnly = false }: Tree,
): Promise<void> {
  const ids = projects.map(({ id }) => id).join();
  await database.script(`
    set local session_replication_role = replica;
    set local maintenance_work_mem = '256MB';
    create temp table bench_indexes on commit drop as
      select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
      from pg_index i
      where i.indrelid in ('filestore.files'::regclass, 'filestore.file_versions'::regclass)
        and not i.indisunique;
    do $$ declare v_name text; begin
      for v_name in select name from bench_indexes loop execute 'drop index ' || v_name; end loop;
    end $$;
    create temp table bench_new on commit drop as
      select project_id, gen_random_uuid() as file_id, gen_random_uuid() as segment_id,
        'top-' || (n / ${filesPerDirectory}) % ${TOP_DIRECTORIES}
          || '/sub-' || lpad((n / ${filesPerDirectory})::text, 5, '0')
          || '/file-' || lpad(n::text, 7, '0') || '.txt' as path,
        -- Spread without order, with ties.
        1 + (n * 7919::bigint) % 50000 as size,
        timestamptz '2026-01-01' + ((n * 104729::bigint) % ${files}) * interval '1 second' as at
      from unnest('{${ids}}'::uuid[]) project_id, generate_series(0, ${files - 1}) n;
    insert into filestore.files (id, project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
      select file_id, project_id, path, 1, 'text/plain', size, array[segment_id], at, at from bench_new;
    insert into filestore.project_usage (project_id, shard, bytes, versions)
      select project_id, 0, sum(size), count(*) from bench_new group by project_id;
    ${filesOnly ? "" : VERSIONS_AND_SEGMENTS}
    do $$ declare v_definition text; begin
      for v_definition in select definition from bench_indexes loop execute v_definition; end loop;
    end $$`);
  await database.script(ANALYZE);
}

const ANALYZE =
  "analyze filestore.files, filestore.file_versions, filestore.segments, filestore.project_usage";

const VERSIONS_AND_SEGMENTS = `
    insert into filestore.file_versions (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
      select project_id, file_id, 1, 'text/plain', size, array[segment_id], gen_random_uuid(), at from bench_new;
    insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
      select segment_id, project_id, at::date, size, decode(repeat('00', 32), 'hex'), 0, false, true from bench_new;`;

/** Adds versions to a file that has some, each with the content of the first. */
export async function addVersions(
  database: Database,
  { id }: Pick<Project, "id">,
  path: string,
  count: number,
): Promise<void> {
  await database.script(`
    set local session_replication_role = replica;
    insert into filestore.file_versions (project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
      select f.project_id, f.id, f.version + n, f.mime_type, f.size, f.segment_ids, gen_random_uuid(),
        f.updated_at + n * interval '1 millisecond'
      from filestore.files f, generate_series(1, ${count}) n
      where f.project_id = '${id}' and f.path = '${path}';
    update filestore.files set version = version + ${count}, updated_at = updated_at + ${count} * interval '1 millisecond'
      where project_id = '${id}' and path = '${path}'`);
  await database.script(ANALYZE);
}
