/** Invariants with many concurrent clients, on a real Postgres, with one connection for each client. */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { byClients } from "../support/in_parallel.ts";
import { assertConsistent } from "../support/postgres/consistency.ts";
import { rounds } from "../support/runner/long.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  commit,
  compact,
  content,
  makeProject,
  newSegment,
  type Project,
  valueOf,
} from "../support/postgres/postgres_filestore.ts";

const CLIENTS = 64;
const APPENDS_PER_CLIENT = rounds(5, 10);

interface Databases {
  /** A connection of the tables' owner, which sees every row. */
  readonly owner: postgres.Sql;
  /** `CLIENTS` connections that act as `service_role`, as the REST API does with the secret key. */
  readonly clients: postgres.Sql;
}

const GUARANTEES: [string, (databases: Databases) => Promise<void>][] = [
  ["files created in overlapping trees, in opposite orders, never deadlock", treesNeverDeadlock],
  [
    "copies, moves, writes and deletions among few paths, in every direction, never deadlock",
    pathsNeverDeadlock,
  ],
  ["a compaction that races appends keeps the order of the content", compactionKeepsOrder],
  ["with a quota, compactions that race appends never deadlock", quotaNeverDeadlocks],
  ["noting a key's last use never deadlocks with the commits of that key", lastUseNeverDeadlocks],
  ["a lease of the search index has the segments of the version it names", leasesAreOfOneVersion],
  ["a commit waits for none of the texts that are indexed at the time", commitsPassIndexing],
];

Deno.test("concurrent clients", async (t) => {
  const server = await startPostgres();
  try {
    const database = await createMigrated(server, "concurrency");
    const owner = connect(database.superuserUrl, 4);
    const clients = connect(server.urlOf("authenticator", database.name), CLIENTS, "service_role");
    try {
      for (const [name, check] of GUARANTEES) {
        await t.step(name, () => check({ owner, clients }));
      }
      await t.step("all is consistent then", () => assertConsistent((statement) => owner.unsafe(statement)));
    } finally {
      await Promise.all([owner.end(), clients.end()]);
    }
  } finally {
    await server.stop();
  }
});

async function treesNeverDeadlock({ owner, clients }: Databases): Promise<void> {
  const project = await makeProject(owner, "trees");
  const directories = ["", "a", "a/b", "a/b/c", "a/z", "b", "b/a", "b/a/c", "c", "a/b/c/d/e/f"];
  await byClients(CLIENTS, async (client) => {
    const order = client % 2 === 0 ? directories : directories.toReversed();
    for (const directory of order) {
      const path = `${directory === "" ? "" : `${directory}/`}${client}.txt`;
      valueOf(await commit(clients, project, "write", { path, segments: [] }));
    }
  });
  assertEquals(await countOf(owner, project, "files"), CLIENTS * directories.length);
}

async function pathsNeverDeadlock({ owner, clients }: Databases): Promise<void> {
  await commitAmongFewPaths(clients, await makeProject(owner, "paths"));
  await commitAmongFewPaths(
    clients,
    await makeProject(owner, "paths with a quota", { maxProjectBytes: 1_000_000 }),
  );
}

async function commitAmongFewPaths(clients: postgres.Sql, project: Project): Promise<void> {
  const paths = ["a.txt", "b/b.txt", "b/c/c.txt", "d/d.txt"];
  let done = 0;
  await byClients(CLIENTS, async (client) => {
    for (let i = 0; i < APPENDS_PER_CLIENT; i++) {
      const path = paths[(client + i) % paths.length] ?? "";
      const destination = paths[(client * 3 + i * 5 + 1) % paths.length] ?? "";
      if (path === destination) continue;
      const kind = (["write", "copy", "move", "delete", "copy", "move"] as const)[(client + i * 7) % 6] ??
        "write";
      const isWrite = kind === "write" || kind === "delete";
      const answer = await commit(clients, project, kind, {
        path,
        segments: kind === "write" ? [newSegment(project)] : [],
        ...isWrite ? {} : { destination, overwrite: true },
      });
      if (answer.refusal === undefined) done++;
      else assertEquals(answer.refusal.code, "FILE_NOT_FOUND");
    }
  });
  assert(done > CLIENTS, `only ${done} commits got through`);
}

async function compactionKeepsOrder({ owner, clients }: Databases): Promise<void> {
  const project = await makeProject(owner, "compactions");
  await raceMerges(clients, project);
  const segments = valueOf(await content(clients, project, "m.txt")).segments.map((segment) => segment.id);
  const latest = (await segmentLists(owner, project)).at(-1);
  // The version keeps its original list; the file's own list may contain compacted segments instead.
  assertEquals(expand(segments), expand(latest?.segments ?? []));
  assert(expand(segments).length > segments.length, "no compaction got through");
}

async function quotaNeverDeadlocks({ owner, clients }: Databases): Promise<void> {
  await raceMerges(clients, await makeProject(owner, "quota", { maxProjectBytes: 1_000_000 }));
}

async function lastUseNeverDeadlocks({ owner, clients }: Databases): Promise<void> {
  const project = await makeProject(owner, "last use");
  let isDone = false;
  const forget = async () => {
    while (!isDone) {
      await owner`update filestore.api_keys set last_used_at = null where project_id = ${project.id}`;
    }
  };
  const appends = byClients(CLIENTS, async () => {
    for (let i = 0; i < APPENDS_PER_CLIENT; i++) {
      valueOf(await commit(clients, project, "write", { path: "used.txt", segments: [newSegment(project)] }));
    }
  });
  await Promise.all([forget(), appends.finally(() => isDone = true)]);
}

/** Appends of 32 clients to one file, while 32 others compact the runs that they see. */
async function raceMerges(clients: postgres.Sql, project: Project): Promise<void> {
  valueOf(await commit(clients, project, "write", { path: "m.txt", segments: [newSegment(project)] }));
  await byClients(CLIENTS, async (client) => {
    for (let i = 0; i < APPENDS_PER_CLIENT; i++) {
      if (client % 2 === 0) await appendOrMerge(clients, project, "m.txt");
      else await compactSome(clients, project, "m.txt");
    }
  });
}

/** Appends one segment, after a compaction if the segment list is full. Returns the segment's id. */
async function appendOrMerge(clients: postgres.Sql, project: Project, path: string): Promise<string> {
  const segment = newSegment(project);
  for (let attempt = 0; attempt < 100; attempt++) {
    const answer = await commit(clients, project, "append", { path, segments: [segment] });
    if (answer.refusal?.code !== "SEGMENT_LIST_FULL") {
      valueOf(answer);
      return segment.id;
    }
    await compactSome(clients, project, path);
  }
  throw new Error("the segment list stays full");
}

/** Compacts all segments of the current list except the last. */
async function compactSome(clients: postgres.Sql, project: Project, path: string): Promise<void> {
  const { segments } = valueOf(await content(clients, project, path));
  const run = segments.slice(0, -1);
  if (run.length < 2) return;
  const compacted = newSegment(project, run.reduce((sum, segment) => sum + segment.size, 0));
  const ids = run.map((segment) => segment.id);
  if (!valueOf(await compact(clients, project, path, ids, [compacted]))) return;
  compactedRuns.set(compacted.id, ids);
}

/** Maps each compacted segment to the segments that it replaced. */
const compactedRuns = new Map<string, string[]>();

/** The segments as appended, before any compaction. */
function expand(segments: readonly string[]): string[] {
  return segments.flatMap((id) => {
    const run = compactedRuns.get(id);
    return run === undefined ? [id] : expand(run);
  });
}

async function segmentLists(
  owner: postgres.Sql,
  project: Project,
): Promise<{ version: number; segments: string[] }[]> {
  const rows = await owner<{ version: number; segments: string[] }[]>`
    select v.version, v.segment_ids as segments from filestore.file_versions v
    where v.project_id = ${project.id} order by v.version`;
  return [...rows];
}

async function countOf(owner: postgres.Sql, project: Project, table: string): Promise<number> {
  const [row] = await owner<{ count: number }[]>`
    select count(*)::integer as count from ${owner(`filestore.${table}`)} where project_id = ${project.id}`;
  return row?.count ?? 0;
}

interface LeasedFile {
  readonly projectId: string;
  readonly fileId: string;
  readonly version: number;
  readonly size: number;
  readonly segments: readonly unknown[];
}

async function leasesAreOfOneVersion({ owner, clients }: Databases): Promise<void> {
  const project = await makeProject(owner, "leases");
  const writers = 8;
  const files = 150;
  let isWriting = true;
  let leased = 0;
  const lease = async () => {
    while (isWriting) {
      const [row] = await clients<{ files: LeasedFile[] }[]>`
        select public.filestore_search_lease(1, 5, 1000000, 1, 60) -> 'files' as files`;
      for (const { projectId, version, size, segments } of row?.files ?? []) {
        if (projectId !== project.id) continue;
        leased++;
        // Each version has one segment, one byte longer than that of the version before.
        assertEquals([size, segments.length], [version, version]);
      }
    }
  };
  const write = async (writer: number) => {
    for (let file = 0; file < files; file++) {
      const path = `${writer}/${file}`;
      valueOf(await commit(clients, project, "write", { path, segments: [newSegment(project, 1)] }));
      for (let append = 0; append < 3; append++) {
        valueOf(await commit(clients, project, "append", { path, segments: [newSegment(project, 1)] }));
      }
    }
  };
  const leases = Promise.all(Array.from({ length: 4 }, lease));
  const writes = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  await Promise.all([leases, writes.finally(() => isWriting = false)]);
  assert(leased > 100, `${leased} leases`);
}

interface Lease {
  readonly leaseId: string;
  readonly files: readonly LeasedFile[];
}

async function commitsPassIndexing({ owner, clients }: Databases): Promise<void> {
  await owner`delete from filestore.search_queue`;
  const project = await makeProject(owner, "commits pass indexing");
  const pathOf = new Map<string, string>();
  for (const path of ["1.txt", "2.txt", "3.txt"]) {
    const made = valueOf(
      await commit(clients, project, "write", { path, segments: [newSegment(project, 1)] }),
    );
    pathOf.set(made.file.id, path);
  }
  // Texts are stored in the order of their ids: the first is new to the index, the second is known, the last has to
  // wait.
  const [unknown = "", known = "", last = ""] = [...pathOf.keys()].sort();
  const append = (sql: postgres.Sql | postgres.TransactionSql, id: string) =>
    commit(sql, project, "append", { path: pathOf.get(id) ?? "", segments: [newSegment(project, 1)] });
  const lease = async (): Promise<Lease> => {
    const [row] = await clients<{ lease: Lease }[]>`
      select public.filestore_search_lease(1, 100, 1000000, 1, 60) as lease`;
    assertEquals(row?.lease.files.length, 3);
    return row?.lease ?? { leaseId: "", files: [] };
  };
  const store = async ({ leaseId, files }: Lease): Promise<number | undefined> => {
    const texts = files.map((file) => ({ ...file, content: "text", skipped: null, chunks: [[1, 0, 4]] }));
    const [row] = await clients<{ stored: number }[]>`
      select public.filestore_search_store(${leaseId}, ${JSON.stringify(texts)}::text::jsonb) as stored`;
    return row?.stored;
  };
  assertEquals(await store(await lease()), 3);
  await owner`delete from filestore.search_texts where file_id = ${unknown}`;
  for (const id of pathOf.keys()) valueOf(await append(clients, id));
  // A text that was just indexed is not due again for a second.
  await owner`update filestore.search_queue set due_at = now()`;
  const leased = await lease();

  const isLocked = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const locker = owner.begin(async (sql) => {
    await sql`select from filestore.search_texts where file_id = ${last} for update`;
    isLocked.resolve();
    await mayEnd.promise;
  });
  await isLocked.promise;
  const stored = store(leased);
  let isOver = false;
  stored.then(() => isOver = true, () => isOver = true);
  try {
    const isWaiting = () =>
      owner`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%search_store%'`;
    while (!isOver && (await isWaiting()).length === 0);
    assert(!isOver, "storing did not wait for the last text");
    for (const id of [unknown, known, last]) {
      await clients.begin(async (sql) => {
        await sql`set local lock_timeout = '10s'`;
        valueOf(await append(sql, id));
      });
    }
  } finally {
    mayEnd.resolve();
    await locker;
  }
  assertEquals(await stored, 3);
  const queued = await owner`
    select version, stage, lease_id from filestore.search_queue where project_id = ${project.id}`;
  assertEquals(queued.map((row) => ({ ...row })), Array(3).fill({ version: 3, stage: 1, lease_id: null }));
}
