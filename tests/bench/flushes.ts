/**
 * The cost of waiting for the disk, on a Postgres whose flushes take as long as those of cloud disks: one project with
 * a rate limit or a quota compared with the same project without, and one project with 64. `commit_delay` makes the
 * process that flushes the log sleep first while it holds the lock on flushing, so no slow disk and no compiler are
 * needed. Unlike with a slow disk, records logged during the sleep are flushed, too.
 */
import type postgres from "postgres";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  commit,
  list,
  makeProject,
  newSegment,
  type Project,
  record,
} from "../support/postgres/postgres_filestore.ts";
import type { Bench } from "./bench.ts";
import { Client } from "./client.ts";
import { interleave, median } from "./measure.ts";
import { type ClientWork, ratesOf } from "./rates.ts";
import { atLeast, atMost, type Bar } from "./report.ts";

const FLUSH_MILLISECONDS = [4, 20];
const CLIENTS = 64;
/** Far more than are sent, since the test measures only the counting. */
const LIMIT = 1_000_000_000;
const QUOTA = 1_000_000_000_000;

export async function flushes({ stack, rounds, report }: Bench): Promise<void> {
  const server = await startPostgres({ durable: true });
  try {
    const { superuserUrl, url } = await createMigrated(server, "flushes");
    const owner = connect(superuserUrl, 1);
    const clients = connect(url, CLIENTS, "service_role");
    for (const milliseconds of FLUSH_MILLISECONDS) {
      await slowFlushes((statement) => owner.unsafe(statement), milliseconds);
      report.group(`A flush of ${milliseconds} ms: the SQL functions, ${CLIENTS} clients`);
      await inSql(owner, clients, milliseconds, rounds, report);
    }
    await Promise.all([owner.end(), clients.end()]);
  } finally {
    await server.stop();
  }
  for (const milliseconds of FLUSH_MILLISECONDS) {
    await slowFlushes((statement) => stack.sql(statement), milliseconds);
    report.group(`A flush of ${milliseconds} ms: over HTTP`);
    await overHttp(stack, rounds, report);
  }
  await slowFlushes((statement) => stack.sql(statement), 0);
}

async function slowFlushes(
  sql: (statement: string) => PromiseLike<unknown>,
  milliseconds: number,
): Promise<void> {
  await sql("alter system set commit_siblings = 0");
  await sql(`alter system set commit_delay = ${milliseconds * 1000}`);
  await sql("select pg_reload_conf()");
}

async function inSql(
  owner: postgres.Sql,
  clients: postgres.Sql,
  run: number,
  rounds: number,
  report: Bench["report"],
): Promise<void> {
  const make = (name: string, options = {}) => makeProject(owner, `${name} ${run}`, options);
  const unlimited = await make("unlimited");
  const limited = await make("limited", { requestsPerMinute: LIMIT });
  const quota = await make("quota", { maxProjectBytes: QUOTA });
  const many: Project[] = [];
  for (let index = 0; index < CLIENTS; index++) many.push(await make(`one of many ${index}`));
  const write = (project: Project, path: string) => {
    const change = { path, segments: [newSegment(project)] };
    return commit(clients, project, "write", change, crypto.randomUUID());
  };
  const own = (client: number) => many[client] ?? unlimited;
  for (const project of [unlimited, limited, quota]) {
    for (let client = 0; client < CLIENTS; client++) await write(project, `${client}`);
  }
  const reads = (project: Project) => () => record(clients, project, "1", null, crypto.randomUUID());
  const lists = (project: Project) => () => list(clients, project, {}, crypto.randomUUID());
  const least = atLeast(0.8);
  await rates(
    "overwrites of 64 files",
    {
      "without a limit": (client) => write(unlimited, `${client}`),
      "with a rate limit": (client) => write(limited, `${client}`),
      "with a quota": (client) => write(quota, `${client}`),
      "in 64 projects": (client) => write(own(client), `${client}`),
    },
    { "with a rate limit": least, "with a quota": least, "in 64 projects": null },
    report,
  );
  await rates(
    "creating files",
    {
      "in 64 projects": (client) => write(own(client), `n/${crypto.randomUUID()}`),
      "in one project": () => write(unlimited, `n/${crypto.randomUUID()}`),
    },
    { "in one project": least },
    report,
  );
  await rates("reads of metadata", {
    "without a limit": reads(unlimited),
    "with a rate limit": reads(limited),
  }, {
    // A read writes a row only if it is counted.
    "with a rate limit": atLeast(0.6),
  }, report);
  for (const [what, work] of [["metadata", reads], ["list", lists]] as const) {
    const times = await interleave({ limited: work(limited), unlimited: work(unlimited) }, rounds);
    report.times(
      `${what}, one reader with a rate limit`,
      times.limited,
      "without",
      times.unlimited,
      atMost(1.4),
    );
  }
}

/** The first work is the baseline of the others. */
async function rates(
  what: string,
  works: Readonly<Record<string, ClientWork>>,
  bars: Readonly<Record<string, Bar | null>>,
  report: Bench["report"],
): Promise<void> {
  const found = await ratesOf(works, CLIENTS);
  const [first = ""] = Object.keys(works);
  const baseline = found[first] ?? [];
  for (const [name, bar] of Object.entries(bars)) {
    const own = found[name] ?? [];
    report.against(`${what}, ${name}`, median(own), "/s", first, median(baseline), bar);
    report.remark(`${first}: ${spread(baseline)}; ${name}: ${spread(own)}`);
  }
}

function spread(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)} a second`;
}

async function overHttp(stack: Bench["stack"], rounds: number, report: Bench["report"]): Promise<void> {
  const projects = { limited: await stack.project(), unlimited: await stack.project(false) };
  await stack.sql("update filestore.projects set requests_per_minute = $1 where id = $2", [
    LIMIT,
    projects.limited.id,
  ]);
  const limited = new Client(stack.baseUrl, projects.limited.key);
  const unlimited = new Client(stack.baseUrl, projects.unlimited.key);
  for (const client of [limited, unlimited]) await client.write("1.txt", "content");
  const kinds = { metadata: "/files/1.txt?metadata", read: "/files/1.txt", list: "/files?limit=100" };
  for (const [what, path] of Object.entries(kinds)) {
    const times = await interleave({
      limited: () => limited.send("GET", path),
      unlimited: () => unlimited.send("GET", path),
    }, rounds);
    report.times(`${what} with a rate limit`, times.limited, "without", times.unlimited, atMost(1.1));
  }
}
