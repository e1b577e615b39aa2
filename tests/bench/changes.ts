/**
 * What the change feed costs a write, what a page costs in a project of many versions, and how long a version takes to a
 * follower.
 */
import type postgres from "postgres";
import { type PostgresServer, startPostgres } from "../support/postgres/postgres.ts";
import { connectNotingPlans, explainEverything } from "../support/postgres/plans.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  commit,
  makeProject,
  newSegment,
  type Project,
  valueOf,
} from "../support/postgres/postgres_filestore.ts";
import { type Bench, fewer } from "./bench.ts";
import { Client } from "./client.ts";
import { interleave } from "./measure.ts";
import { addVersions } from "./populate.ts";
import { atMost, type Report } from "./report.ts";

const FEW_VERSIONS = 1_000;
const MANY_VERSIONS = 1_000_000;
/** The most that a page of the many may take of one of the few. */
const PAGE_MAX = 1.2;
/** The most that a write may cost more than one without the feed. */
const WRITE_MAX = 1.05;
const LATENCY_MILLISECONDS_MAX = 300;
/** Half of the time between two questions for changes: writes come at any moment of it. */
const PHASE_MILLISECONDS = 125;

/** The database as it would be without the feed: versions have numbers that nobody can follow. */
const WITHOUT_FEED = `
  create or replace function filestore.next_position(p_project_id uuid) returns bigint
  language plpgsql volatile set search_path = '' as $$ begin return nextval('filestore.positions'); end $$;
  drop index filestore.file_versions_by_position`;

export async function changes({ stack, rounds, report }: Bench): Promise<void> {
  const server = await startPostgres();
  try {
    await ofWrites(server, rounds, report);
    await ofPages(server, rounds, report);
  } finally {
    await server.stop();
  }
  report.group("From a write's answer to a follower that waits, over HTTP");
  const client = new Client(stack.baseUrl, (await stack.project()).key);
  const times: number[] = [];
  let after: string = JSON.parse(await client.send("GET", "/changes?after=now")).data.cursor;
  for (let round = 0; round < fewer(rounds, 2); round++) {
    const waiting = client.send("GET", `/changes?wait=25&after=${after}`).then((text) => ({
      at: performance.now(),
      page: JSON.parse(text).data,
    }));
    await new Promise((resolve) => setTimeout(resolve, 2 * PHASE_MILLISECONDS * (1 + Math.random())));
    await client.append("followed.txt", "a line\n").catch(() => client.write("followed.txt", "a line\n"));
    const written = performance.now();
    const { at, page } = await waiting;
    times.push(at - written);
    after = page.cursor;
  }
  const sorted = times.toSorted((a, b) => a - b);
  report.value(
    "median",
    sorted[Math.floor(sorted.length / 2)] ?? NaN,
    "ms",
    atMost(LATENCY_MILLISECONDS_MAX, "value"),
  );
  report.value("slowest", sorted.at(-1) ?? NaN, "ms", null);
}

async function ofWrites(server: PostgresServer, rounds: number, report: Report): Promise<void> {
  report.group("A commit in SQL, with the feed and without its lock and its index");
  const [given, without] = [await createMigrated(server, "feed"), await createMigrated(server, "no_feed")];
  const owners = [connect(given.superuserUrl, 1), connect(without.superuserUrl, 1)] as const;
  try {
    await owners[1].unsafe(WITHOUT_FEED);
    const works = await Promise.all(owners.map(async (sql) => {
      const project = await makeProject(sql, "bench");
      await append(sql, project);
      return { sql, project };
    }));
    const [own, other] = works;
    if (!own || !other) throw new Error("two databases were made");
    const times = await interleave({
      given: () => append(own.sql, own.project),
      without: () => append(other.sql, other.project),
    }, rounds);
    report.times("append, time", times.given, "without the feed", times.without, atMost(WRITE_MAX));
    const [bytes, bytesWithout] = [await loggedBytes(own, rounds), await loggedBytes(other, rounds)];
    report.against("append, WAL", bytes, "bytes", "without the feed", bytesWithout, null);
    const inRun = { provenance: { runId: "nightly-42", actor: "planner/2.1" } };
    const bytesInRun = await loggedBytes(own, rounds, inRun);
    report.against("append in a run, WAL", bytesInRun, "bytes", "without the feed", bytesWithout, null);
  } finally {
    await Promise.all(owners.map((sql) => sql.end()));
  }
  report.value("append, statements", await statements(given.superuserUrl), "", null);
  report.value("append, statements without the feed", await statements(without.superuserUrl), "", null);
}

async function append(sql: postgres.Sql, project: Project, more = {}): Promise<void> {
  const change = { path: "notes/log.txt", segments: [newSegment(project)], ...more };
  // Each version has one segment, so that it costs the same every time.
  valueOf(await commit(sql, project, "write", change));
}

/** Bytes of the write-ahead log for each commit, the others of the server aside, which does nothing else. */
async function loggedBytes(
  { sql, project }: { sql: postgres.Sql; project: Project },
  rounds: number,
  more = {},
) {
  const at = async () => {
    const [row] = await sql<{ at: string }[]>`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as at`;
    return Number(row?.at);
  };
  const before = await at();
  for (let round = 0; round < rounds; round++) await append(sql, project, more);
  return (await at() - before) / rounds;
}

/** Of one commit, those inside of functions too. */
async function statements(url: string): Promise<number> {
  const { sql, plans } = connectNotingPlans(url);
  try {
    const project = await makeProject(sql, crypto.randomUUID());
    await append(sql, project);
    await explainEverything(sql);
    plans.length = 0;
    await append(sql, project);
    return plans.length;
  } finally {
    await sql.end();
  }
}

async function ofPages(server: PostgresServer, rounds: number, report: Report): Promise<void> {
  report.group(`A page of 100 changes in SQL, among ${MANY_VERSIONS} versions and among ${FEW_VERSIONS}`);
  const sql = connect((await createMigrated(server, "pages")).superuserUrl, 1);
  try {
    const scripts = {
      script: (text: string) => sql.begin((transaction) => transaction.unsafe(text).simple()),
    };
    const projects = await Promise.all([FEW_VERSIONS, MANY_VERSIONS].map(async (count) => {
      const project = await makeProject(sql, `${count} versions`);
      await append(sql, project);
      await addVersions(scripts, project, "notes/log.txt", count);
      return project;
    }));
    await sql.unsafe("vacuum analyze filestore.file_versions").simple();
    const [few, many] = projects;
    if (!few || !many) throw new Error("two projects were made");
    const page = async ({ keyHash }: Project, after?: string) => {
      const query = JSON.stringify({ limit: 100, after });
      const [row] = await sql<{ value: { cursor: string } }[]>`
        select public.filestore_changes(${keyHash}, null, ${query}::text::jsonb) -> 'value' as value`;
      if (!row) throw new Error("no page");
      return row.value.cursor;
    };
    const [early, late] = [await page(few), await page(many)];
    const times = await interleave({
      few: () => page(few),
      many: () => page(many),
      fewOn: () => page(few, early),
      manyOn: () => page(many, late),
    }, rounds);
    report.times("the first page", times.many, `of ${FEW_VERSIONS}`, times.few, atMost(PAGE_MAX));
    report.times("a later page", times.manyOn, `of ${FEW_VERSIONS}`, times.fewOn, atMost(PAGE_MAX));
  } finally {
    await sql.end();
  }
}
