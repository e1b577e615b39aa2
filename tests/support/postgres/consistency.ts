/** Invariants of the tables that must hold whenever no work is under way. */
import { assertEquals } from "@std/assert";
import {
  TARIFF_BRANCH_BYTES,
  TARIFF_LISTED_SEGMENT_BYTES,
  TARIFF_PROVENANCE_FACTOR,
  TARIFF_SEGMENT_BYTES,
  TARIFF_VERSION_BYTES,
} from "../client/tariff.ts";

/** A query that recomputes the tariff of a project's rows. */
export function databaseBytes(projectId: string): string {
  return `select coalesce((
      select sum(filestore.file_cost(f)) from filestore.files f where f.project_id = ${projectId}), 0)
    + coalesce((
      select sum(${TARIFF_VERSION_BYTES} + ${TARIFF_LISTED_SEGMENT_BYTES} * cardinality(v.segment_ids)
        + case when v.source_file_id <> v.file_id then ${TARIFF_SEGMENT_BYTES} else 0 end
          * cardinality(v.segment_ids)
        + ${TARIFF_PROVENANCE_FACTOR} * octet_length(concat(v.run_id, v.actor, v.note)))
      from filestore.file_versions v where v.project_id = ${projectId}), 0)
    + ${TARIFF_SEGMENT_BYTES} * (select count(*) from filestore.segments s where s.project_id = ${projectId}
      and s.id not in (select d.segment_id from filestore.dead_segments d))
    + ${TARIFF_BRANCH_BYTES} * (select count(*) from filestore.branches b where b.project_id = ${projectId})`;
}

const INCONSISTENCIES = `
  select 'versions not dense: ' || f.path as what from filestore.files f
  where f.path is not null
    and (select array_agg(v.version order by v.version) from filestore.file_versions v where v.file_id = f.id)
      is distinct from (select array_agg(n) from generate_series(
        (select min(v.version) from filestore.file_versions v where v.file_id = f.id), f.version) n)
  union all
  select 'file is not its last version: ' || f.path from filestore.files f
  where not exists (
    select from filestore.file_versions v
    where v.file_id = f.id and v.project_id = f.project_id and v.version = f.version and v.size = f.size
      and v.mime_type = f.mime_type and v.is_deleted = f.is_deleted and v.created_at = f.updated_at)
  union all
  select 'times run backwards: ' || f.path from filestore.file_versions v
  join filestore.file_versions w on w.file_id = v.file_id and w.version = v.version + 1
  join filestore.files f on f.id = v.file_id
  where w.created_at < v.created_at
  union all
  select 'positions run backwards: ' || f.path from filestore.file_versions v
  join filestore.file_versions w on w.file_id = v.file_id and w.version = v.version + 1
  join filestore.files f on f.id = v.file_id
  where w.position <= v.position
  union all
  select 'a path that was taken and not filled: ' || f.path from filestore.files f where f.version = 0
  union all
  select 'a commit of two times: ' || v.commit_id from filestore.file_versions v
  group by v.project_id, v.commit_id having count(distinct v.created_at) > 1
  union all
  select 'a run without a beginning: ' || v.run_id from filestore.file_versions v
  left join filestore.runs r on r.project_id = v.project_id and r.run_id = v.run_id
  where v.run_id is not null and r.run_id is null
  union all
  select 'version lacks bytes: ' || v.file_id || ' ' || v.version from filestore.file_versions v
  join filestore.files f on f.project_id = v.project_id and f.id = v.file_id
  where f.path is not null and v.redacted_at is null and v.size <> (
    select coalesce(sum(s.size), 0) from unnest(v.segment_ids) i (id)
    join filestore.segments s on s.id = i.id and s.project_id = v.project_id
    where s.id not in (select d.segment_id from filestore.dead_segments d))
  union all
  select 'segment list lacks bytes: ' || f.path from filestore.files f
  where f.size <> (
    select coalesce(sum(s.size), 0) from unnest(f.segment_ids) i (id)
    join filestore.segments s on s.id = i.id and s.project_id = f.project_id
    where s.id not in (select d.segment_id from filestore.dead_segments d))
  union all
  select 'a segment that nobody knows to be shared: ' || s.id from filestore.files f
  join filestore.file_versions v on v.file_id = f.id cross join unnest(v.segment_ids) s (id)
  where f.path is not null group by s.id
  having count(distinct f.id) > 1 and count(distinct f.id) > (
    select count(*) from filestore.shared_segments h where h.segment_id = s.id)
  union all
  select 'a segment that nothing needs: ' || s.id from filestore.segments s
  where s.id not in (select d.segment_id from filestore.dead_segments d)
    and s.id not in (select d.segment_id from filestore.possibly_unreferenced_segments d)
    and not exists (select from filestore.purged_files g where g.pending_versions > 0)
    and s.id not in (select unnest(v.segment_ids) from filestore.file_versions v)
    and s.id not in (select unnest(f.segment_ids) from filestore.files f)
  union all
  select 'usage: ' || p.name from filestore.projects p
  where (select coalesce(sum(u.bytes), 0) from filestore.project_usage u where u.project_id = p.id)
      <> (select coalesce(sum(s.size), 0) from filestore.segments s where s.project_id = p.id
        and s.id not in (select d.segment_id from filestore.dead_segments d))
    or (select coalesce(sum(u.database_bytes), 0) from filestore.project_usage u where u.project_id = p.id)
      <> (${databaseBytes("p.id")})
    or (select coalesce(sum(u.versions), 0) from filestore.project_usage u where u.project_id = p.id)
      <> (select count(*) from filestore.file_versions v where v.project_id = p.id)
  union all
  select 'idempotency key without a response: ' || i.key from filestore.idempotency_keys i where i.response is null`;

/** `sql` returns the rows of a statement, with the rights of a role that sees every project. */
export async function assertConsistent(
  sql: (statement: string) => PromiseLike<Iterable<unknown>>,
): Promise<void> {
  assertEquals([...await sql(INCONSISTENCIES)], []);
}
