/**
 * The time of a commit in Postgres alone: an overwrite compared with the statements that it cannot do without, under
 * the same row-level security, and with one updated row. One client and 64, on connections that send no other calls.
 */
import type postgres from "postgres";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import { commit, makeProject, newSegment, type Project } from "../support/postgres/postgres_filestore.ts";
import type { Bench } from "./bench.ts";
import { interleave, median } from "./measure.ts";
import { ratesOf } from "./rates.ts";

const CLIENTS = 64;

/**
 * The rows of the file (whose trigger queues it for the search index) and of the version; with `p_all` also the
 * segment's row and the project's usage. No key, scope, limit, precondition, repeated commit, directory or quota.
 */
const FLOOR = `
  create function public.bench_commit(p_project uuid, p_path text, p_all boolean) returns integer
  language plpgsql volatile security definer set search_path = '' as $$
  declare
    v_file filestore.files;
    v_segment constant uuid := gen_random_uuid();
  begin
    perform set_config('filestore.project_id', p_project::text, true);
    perform set_config('filestore.path_prefix', '', true);
    if p_all then
      insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
      values (v_segment, p_project, current_date, 10, sha256(''), 0, false, true);
    end if;
    update filestore.files f set version = f.version + 1, size = 10, segment_ids = array[v_segment], updated_at = now()
    where f.project_id = p_project and f.path = p_path returning * into v_file;
    insert into filestore.file_versions (
      project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
    values (p_project, v_file.id, v_file.version, 'text/plain', 10, v_file.segment_ids, gen_random_uuid(), now());
    if p_all then
      update filestore.project_usage u set bytes = u.bytes + 10, versions = u.versions + 1
      where u.project_id = p_project and u.shard = (
        select s.shard from filestore.project_usage s where s.project_id = p_project limit 1 for update skip locked);
    end if;
    return v_file.version;
  end
  $$;
  alter function public.bench_commit owner to filestore_engine;
  grant execute on function public.bench_commit to service_role;
  create table public.bench_rows (id integer primary key, touched integer not null) with (fillfactor = 50);
  insert into public.bench_rows select n, 0 from generate_series(0, ${CLIENTS - 1}) n;
  grant all on public.bench_rows to service_role`;

export async function commits({ rounds, report }: Bench): Promise<void> {
  const server = await startPostgres({ durable: true });
  try {
    const { superuserUrl, url } = await createMigrated(server, "commits");
    const owner = connect(superuserUrl, 1);
    await owner.unsafe(FLOOR).simple();
    const project = await makeProject(owner, "commits");
    const limited = await makeProject(owner, "limited", { requestsPerMinute: 1_000_000_000 });
    // Off, since the wait for the disk is the same for all.
    await owner.unsafe("alter system set synchronous_commit = off");
    await owner.unsafe("select pg_reload_conf()");
    const sql = connect(url, 1, "service_role");
    const clients = connect(url, CLIENTS, "service_role");
    for (let client = 0; client < CLIENTS; client++) {
      for (const own of [project, limited]) await overwrite(clients, own, client, "write");
    }
    report.group("A commit in Postgres: the SQL alone");
    const times = await interleave({
      nothing: () => sql`select 1`,
      row: () => touch(sql, 0),
      floor: () => floor(sql, project, 0, false),
      all: () => floor(sql, project, 0, true),
      overwrite: () => overwrite(sql, project, 0),
      limited: () => overwrite(sql, limited, 0),
    }, 10 * rounds);
    const idle = median(times.nothing);
    report.value("a statement that does nothing", idle, "ms", null);
    const against = (
      what: string,
      of: readonly number[],
      baselineWhat: string,
      baseline: readonly number[],
    ) =>
      report.against(
        what,
        median(of) - idle,
        "ms",
        `${baselineWhat}, both without that`,
        median(baseline) - idle,
        null,
      );
    against("the rows of a version", times.floor, "one updated row", times.row);
    against("… and of its segment and usage", times.all, "one updated row", times.row);
    against("an overwrite", times.overwrite, "one updated row", times.row);
    against("an overwrite", times.overwrite, "all those rows", times.all);
    against("an overwrite with a rate limit", times.limited, "all those rows", times.all);
    const rates = await ratesOf({
      "all those rows": (client) => floor(clients, project, client, true),
      "an overwrite": (client) => overwrite(clients, project, client),
      "an overwrite with a rate limit": (client) => overwrite(clients, limited, client),
    }, CLIENTS);
    for (const name of ["an overwrite", "an overwrite with a rate limit"] as const) {
      const [own, other] = [median(rates[name]), median(rates["all those rows"])];
      report.against(`${name}, ${CLIENTS} clients`, own, "/s", "all those rows", other, null);
    }
    await Promise.all([owner.end(), sql.end(), clients.end()]);
  } finally {
    await server.stop();
  }
}

function touch(sql: postgres.Sql, row: number) {
  return sql`update public.bench_rows set touched = touched + 1 where id = ${row} returning touched`;
}

function floor(sql: postgres.Sql, project: Project, client: number, isAll: boolean) {
  return sql`select public.bench_commit(${project.id}::uuid, ${`${client}`}, ${isAll}::boolean)`;
}

function overwrite(
  sql: postgres.Sql,
  project: Project,
  client: number,
  kind: "write" | "overwrite" = "overwrite",
) {
  const change = { path: `${client}`, segments: [newSegment(project)] };
  return commit(sql, project, kind, change, crypto.randomUUID());
}
