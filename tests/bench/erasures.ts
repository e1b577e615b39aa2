/**
 * 1,000,000 versions that go by retention and purges, in slices of the sweep, while others write the same files: what a
 * slice takes of Postgres's processor, how many there are, and what a write waits. The SQL alone, on a Postgres of its own.
 */
import type postgres from "postgres";
import { setTimeout as delay } from "node:timers/promises";
import { SWEEP_KINDS } from "../../supabase/functions/api/ports/metadata.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { commit, makeProject, newSegment, type Project } from "../support/postgres/postgres_filestore.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import { cpuDuring } from "../support/stack/processes.ts";
import type { Bench } from "./bench.ts";
import { median, quantile, timed } from "./measure.ts";
import { atMost } from "./report.ts";

const VERSIONS = Number(Deno.env.get("BENCH_ERASED_VERSIONS") ?? 1_000_000);
/** Of a second file of each project: writes of it meet no slice. */
const APART = "apart";
const WRITERS = 2;
/** Between two writes of one client. */
const PAUSE_MILLISECONDS = 5;
const BASELINE_MILLISECONDS = 3000;
/** Objects whose rows go at once, as the sweep removes them. */
const OBJECTS = 1000;

interface Parts {
  readonly owner: postgres.Sql;
  readonly sweeper: postgres.Sql;
  readonly writers: postgres.Sql;
}

/** Files with as many versions each, every one of a segment of its own, as overwrites leave them. */
async function makeVersions(
  owner: postgres.Sql,
  { id }: Project,
  files: number,
  versions: number,
): Promise<void> {
  await owner.begin(async (sql) => {
    await sql.unsafe(`
      set local session_replication_role = replica;
      create temp table bench_versions on commit drop as
        select f.id as file_id, f.path, n as version, gen_random_uuid() as segment_id
        from (select gen_random_uuid() as id, 'file-' || i as path from generate_series(1, ${files}) i) f,
          generate_series(1, ${versions}) n;
      insert into filestore.files (id, project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
        select file_id, '${id}', path, version, 'image/png', 1000, array[segment_id], now() - interval '1 day', now()
        from bench_versions where version = ${versions};
      insert into filestore.file_versions (
        project_id, file_id, version, mime_type, size, segment_ids, commit_id, position, created_at)
        select '${id}', file_id, version, 'image/png', 1000, array[segment_id], gen_random_uuid(),
          nextval('filestore.positions'), now() - (${versions} - version) * interval '1 millisecond'
        from bench_versions order by version, file_id;
      insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
        select segment_id, '${id}', current_date, 1000, decode(repeat('00', 32), 'hex'), 0, false, false
        from bench_versions;
      insert into filestore.project_usage (project_id, shard, bytes, versions)
        select '${id}', 0, 1000 * count(*), count(*) from bench_versions`);
  });
  await owner.unsafe("analyze filestore.files, filestore.file_versions, filestore.segments");
}

/** Overwrites the paths in turn until told to stop. Milliseconds of each. */
function write(sql: postgres.Sql, project: Project, paths: readonly string[], signal: AbortSignal) {
  return Promise.all(Array.from({ length: WRITERS }, async (_, writer) => {
    const times: number[] = [];
    for (let round = writer; !signal.aborted; round += WRITERS) {
      const path = paths[round % paths.length] ?? APART;
      const change = { path, segments: [newSegment(project)] };
      times.push(await timed(() => commit(sql, project, "overwrite", change, crypto.randomUUID())));
      await delay(PAUSE_MILLISECONDS);
    }
    return times;
  })).then((all) => all.flat());
}

async function during(work: Promise<unknown>, writing: (signal: AbortSignal) => Promise<number[]>) {
  const stop = new AbortController();
  const writes = writing(stop.signal);
  await work.finally(() => stop.abort());
  return await writes;
}

interface Slices {
  /** Seconds of the processor. */
  readonly cpu: number[];
  readonly milliseconds: number[];
}

/** Slices until there is nothing left of what was due when they began. */
async function sweep(sweeper: postgres.Sql): Promise<Slices> {
  const [backend] = await sweeper<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const slices: Slices = { cpu: [], milliseconds: [] };
  const begun = new Date().toISOString();
  for (let more = true; more;) {
    slices.cpu.push(
      await cpuDuring(backend?.pid ?? NaN, async () => {
        slices.milliseconds.push(
          await timed(async () => {
            more = false;
            for (const kind of SWEEP_KINDS) {
              const [row] = await sweeper<{ more: boolean }[]>`
                select public.filestore_sweep_erasures(${kind}, ${begun}::timestamptz) as more`;
              more ||= row?.more === true;
            }
          }),
        );
      }),
    );
  }
  return slices;
}

/** What the objects leave: a call before each page of them, and one after. */
async function forget(sweeper: postgres.Sql): Promise<Slices> {
  const [backend] = await sweeper<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const slices: Slices = { cpu: [], milliseconds: [] };
  for (let found = 1; found > 0;) {
    slices.cpu.push(
      await cpuDuring(backend?.pid ?? NaN, async () => {
        slices.milliseconds.push(
          await timed(async () => {
            const [row] = await sweeper<{ dead: { id: string }[] }[]>`
              select public.filestore_sweep_dead(${OBJECTS}) as dead`;
            const ids = row?.dead.map(({ id }) => id) ?? [];
            found = ids.length;
            if (found > 0) await sweeper`select public.filestore_sweep_removed(${ids}::uuid[])`;
          }),
        );
      }),
    );
  }
  return slices;
}

function tell(
  report: Bench["report"],
  what: string,
  slices: Slices,
  writes?: readonly number[],
  before?: readonly number[],
) {
  report.value(`${what}: slices`, slices.cpu.length, "", null);
  report.value(
    `${what}: processor, the slice that took most`,
    Math.max(...slices.cpu),
    "s",
    atMost(1, "value"),
  );
  report.value(`${what}: processor, all slices`, slices.cpu.reduce((sum, one) => sum + one, 0), "s", null);
  report.value(`${what}: a slice, median`, median(slices.milliseconds), "ms", null);
  report.value(`${what}: a slice, 99 %`, quantile(slices.milliseconds, 0.99), "ms", null);
  if (!writes || !before) return;
  for (const [name, share] of [["median", 0.5], ["99 %", 0.99]] as const) {
    report.against(
      `${what}: a write of what is trimmed, ${name}`,
      quantile(writes, share),
      "ms",
      "without slices",
      quantile(before, share),
      null,
    );
  }
  report.value(
    `${what}: what such a write waits, 99 %`,
    quantile(writes, 0.99) - median(before),
    "ms",
    atMost(50, "value"),
  );
}

export async function erasures({ report }: Bench): Promise<void> {
  report.group(`${VERSIONS.toLocaleString("en")} versions that go`);
  const server = await startPostgres({ durable: true });
  try {
    const { superuserUrl, url } = await createMigrated(server, "erasures");
    const owner = connect(superuserUrl, 1);
    const parts: Parts = {
      owner,
      sweeper: connect(url, 1, "service_role"),
      writers: connect(url, WRITERS, "service_role"),
    };
    await retention(parts, report, "one file, all but 1,000", 1, VERSIONS * 0.4, 1000);
    await retention(parts, report, "1,000 files, all but 10 of each", 1000, VERSIONS * 0.0003, 10);
    await purge(parts, report, VERSIONS * 0.3);
    tell(report, "rows of removed objects", await forget(parts.sweeper));
    await Promise.all(Object.values(parts).map((sql: postgres.Sql) => sql.end()));
  } finally {
    await server.stop();
  }
}

async function retention(
  { owner, sweeper, writers }: Parts,
  report: Bench["report"],
  name: string,
  files: number,
  versions: number,
  keepVersions: number,
): Promise<void> {
  const project = await makeProject(owner, name);
  await makeVersions(owner, project, files, versions);
  const paths = Array.from({ length: files }, (_, index) => `file-${index + 1}`);
  const writing = (signal: AbortSignal) => write(writers, project, paths, signal);
  const before = await during(delay(BASELINE_MILLISECONDS), writing);
  await owner`update filestore.projects set retention = ${
    owner.json({ keepVersions })
  }, retention_set_at = now()
    where id = ${project.id}`;
  let slices: Slices = { cpu: [], milliseconds: [] };
  const writes = await during(sweep(sweeper).then((all) => slices = all), writing);
  await owner`update filestore.projects set retention = null where id = ${project.id}`;
  tell(report, name, slices, writes, before);
}

async function purge(
  { owner, sweeper, writers }: Parts,
  report: Bench["report"],
  versions: number,
): Promise<void> {
  const project = await makeProject(owner, "purged");
  await makeVersions(owner, project, 1, versions);
  await owner`update filestore.api_keys set scopes = '{read,write,admin}' where project_id = ${project.id}`;
  await commit(
    writers,
    project,
    "write",
    { path: APART, segments: [newSegment(project)] },
    crypto.randomUUID(),
  );
  const writing = (signal: AbortSignal) => write(writers, project, [APART], signal);
  const before = await during(delay(BASELINE_MILLISECONDS), writing);
  const purged = await timed(async () => {
    const change = { path: "file-1", commitId: crypto.randomUUID() };
    await sweeper`select public.filestore_commit(${project.keyHash}, ${crypto.randomUUID()}, 'purge', ${
      sweeper.json(change)
    })`;
  });
  report.value("a purge: the commit", purged, "ms", null);
  let slices: Slices = { cpu: [], milliseconds: [] };
  const writes = await during(sweep(sweeper).then((all) => slices = all), writing);
  tell(report, "a purge, what follows", slices, writes, before);
}
