/**
 * Files are indexed fairly: no project's queue delays another's, and a file that fails harms only itself. Measured in
 * leases and rows, not in seconds, since a lease is bounded by its number of files and bytes.
 */
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import type postgres from "postgres";
import {
  SEARCH_LEASE_BYTES,
  SEARCH_LEASE_CHUNKS,
  SEARCH_LEASE_EMBEDDED_FILES,
  SEARCH_LEASE_FILES,
  SEARCH_LEASE_SECONDS,
  SEARCH_TEXT_BYTES_MAX,
  SEARCH_TRIES_MAX,
} from "../../supabase/functions/api/limits.ts";
import { connectNotingPlans, explainEverything, rowsRead } from "../support/postgres/plans.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { makeProject } from "../support/postgres/postgres_filestore.ts";
import { createMigrated } from "../support/postgres/postgres_hosted.ts";

interface LeasedFile {
  readonly projectId: string;
  readonly fileId: string;
  readonly path: string;
  readonly size: number;
  readonly tries: number;
  readonly chunks: readonly unknown[];
}

interface Lease {
  readonly leaseId: string;
  readonly files: readonly LeasedFile[];
  readonly nextDueMilliseconds: number | null;
}

interface LeaseOptions {
  readonly stage?: 1 | 2;
  readonly begun?: string | null;
}

const server = await startPostgres();
const database = await createMigrated(server, "search_turns");
const { sql, plans } = connectNotingPlans(database.superuserUrl);
Deno.test.afterAll(async () => {
  await sql.end();
  await server.stop();
});

/** Leases files as the function does. */
async function lease(
  { stage = 1, begun = null }: LeaseOptions = {},
): Promise<Lease> {
  const files = stage === 1 ? SEARCH_LEASE_FILES : SEARCH_LEASE_EMBEDDED_FILES;
  const [row] = await sql<{ lease: Lease }[]>`
    select public.filestore_search_lease(${stage}, ${files}, ${SEARCH_LEASE_BYTES}, ${SEARCH_LEASE_CHUNKS},
      ${SEARCH_LEASE_SECONDS}, ${stage === 1 ? null : "m"}, ${begun}::timestamptz) as lease`;
  return existing(row).lease;
}

function existing<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nothing was leased");
  return value;
}

/** A project with this number of files waiting to be indexed, of `bytes` bytes each. */
async function waiting(files: number, bytes = 100): Promise<string> {
  const { id } = await makeProject(sql, crypto.randomUUID());
  await sql`
    insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
    select ${id}, 'f' || n, 1, 'text/plain', ${bytes}, '{}', now(), now() from generate_series(1, ${files}) n`;
  return id;
}

/** Returns a function that tells the milliseconds since. */
function stopwatch(): () => number {
  const started = performance.now();
  return () => performance.now() - started;
}

/** The number of files of each project in a lease. */
function shares({ files }: Lease): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { projectId } of files) counts.set(projectId, (counts.get(projectId) ?? 0) + 1);
  return counts;
}

function test(name: string, body: () => Promise<void>): void {
  Deno.test(name, async () => {
    await sql`truncate filestore.search_queue`;
    await body();
  });
}

/** Stores the leased texts, as an index that accepts any text. With a model, each text has a chunk to be embedded. */
async function finish({ leaseId, files }: Lease, model: string | null = null, version = 1): Promise<void> {
  const texts = files.map((file) => ({
    ...file,
    version,
    mimeType: "text/plain",
    content: "x",
    skipped: null,
    chunks: model === null ? [] : [[1, 0, 1]],
  }));
  await sql`select public.filestore_search_store(${leaseId}, ${
    sql.json(texts as unknown as postgres.JSONValue)
  }, ${model})`;
}

test("one project's 1,000 waiting files: another's single file is in the very next lease", async () => {
  const many = await waiting(1_000);
  const single = await waiting(1);
  const taken = await lease();
  assertEquals(shares(taken), new Map([[many, SEARCH_LEASE_FILES / 2], [single, 1]]));
});

test("nor do 1,000 large files delay it, or 20 projects full of them", async () => {
  for (let n = 0; n < 20; n++) await waiting(50, SEARCH_TEXT_BYTES_MAX);
  const single = await waiting(1);
  const taken = await lease();
  assertEquals(shares(taken).get(single), 1);
  const bytes = taken.files.reduce((sum, { size }) => sum + size, 0);
  assertLessOrEqual(bytes, SEARCH_TEXT_BYTES_MAX + SEARCH_LEASE_BYTES);
});

test("a sweep takes what waited when it began, embeddings included, and so ends whatever others write", async () => {
  const early = await waiting(SEARCH_LEASE_FILES + 1);
  await sql`update filestore.files set updated_at = updated_at - interval '1 minute' where project_id = ${early}`;
  await sql`update filestore.search_queue set due_at = due_at - interval '1 minute'`;
  const begun = new Date(Date.now() - 30_000).toISOString();
  let [texts, embedded] = [0, 0];
  for (let leases = 0; leases < 20; leases++) {
    await waiting(1);
    const taken = await lease({ begun });
    assertEquals([...shares(taken).keys()], taken.files.length > 0 ? [early] : []);
    await finish(taken, "m");
    texts += taken.files.length;
    const chunks = await lease({ stage: 2, begun });
    assertEquals([...shares(chunks).keys()], chunks.files.length > 0 ? [early] : []);
    embedded += chunks.files.length;
    if (taken.files.length + chunks.files.length === 0) break;
  }
  assertEquals([texts, embedded], [SEARCH_LEASE_FILES + 1, SEARCH_LEASE_FILES + 1]);
  assertEquals((await lease()).files.length > 0, true, "what came later is there for the next one");
});

/** Enough leases that each of `projects` has been first in one, except once in 10^9 times. */
const enoughLeases = (projects: number) => Math.ceil(21 * projects);

test("a lease has one large text at most, and what is found by its name alone comes along", async () => {
  await waiting(30, SEARCH_TEXT_BYTES_MAX);
  await waiting(30, SEARCH_TEXT_BYTES_MAX);
  const named = await waiting(1, SEARCH_TEXT_BYTES_MAX + 1);
  const { files } = await lease();
  assertEquals(files.filter(({ projectId }) => projectId === named).length, 1);
  assertLessOrEqual(files.length, 2);
});

test("a lease reads as many rows of a queue of 20,000 as of one of 1,000", async () => {
  const read = async (files: number) => {
    await sql`truncate filestore.search_queue`;
    for (let n = 0; n < 4; n++) await waiting(files / 4);
    // These files have been leased before and are not due.
    await lease();
    await sql`analyze filestore.search_queue`;
    await explainEverything(sql);
    plans.length = 0;
    assertEquals((await lease()).files.length, 48);
    await sql`set auto_explain.log_min_duration = -1`;
    return rowsRead(plans, ["search_queue"])["search_queue"] ?? 0;
  };
  const few = await read(1_000);
  const many = await read(20_000);
  // deno-lint-ignore no-console -- figures that the test was run for
  console.log(`rows of the queue: ${few} of 1,000, ${many} of 20,000`);
  assertLessOrEqual(many, few + 10);
});

test("a lease that was not finished is a lease: its files are due again after it, one by one", async () => {
  const id = await waiting(5);
  assertEquals((await lease()).files.length, 5);
  assertEquals((await lease()).files, []);
  await sql`update filestore.search_queue set due_at = due_at - ${SEARCH_LEASE_SECONDS} * interval '1 second'`;
  const fresh = await waiting(3);
  const ones: string[] = [];
  const together: number[] = [];
  for (let n = 0; n < enoughLeases(2) && ones.length + together.length < 6; n++) {
    for (const [project, files] of shares(await lease())) {
      if (project === id) ones.push(...Array(files).fill(project));
      else together.push(files);
      assert(project === fresh || files === 1, `${files} of a project that failed before`);
    }
  }
  assertEquals([ones.length, together], [5, [3]]);
});

test("a version that comes while the one before is being indexed, or just was, waits for a second and 8 µs a byte, of at most 1 MiB; one that waits keeps its place", async () => {
  const id = await waiting(1);
  const { leaseId } = await lease();
  const due = async () => {
    const [row] = await sql<{ ms: number; lease: string | null }[]>`
      select extract(epoch from due_at - clock_timestamp())::float * 1000 as ms, lease_id as lease
      from filestore.search_queue where project_id = ${id}`;
    return existing(row);
  };
  const commit = (version: number) =>
    sql`update filestore.files set version = ${version} where project_id = ${id}`;
  assertEquals((await due()).lease, leaseId);
  const elapsed = stopwatch();
  await commit(2);
  const { ms, lease: lost } = await due();
  assert(lost === null && ms <= 1_010 && ms > 990 - elapsed(), `${ms} ms`);
  await sql`update filestore.search_queue set due_at = now() - interval '1 minute'`;
  await commit(3);
  assert((await due()).ms <= -60_000);
  await finish(await lease(), null, 3);
  const { files, nextDueMilliseconds } = await lease();
  assertEquals([files, nextDueMilliseconds], [[], null], "nobody comes again for nothing");
  const passed = stopwatch();
  await sql`
    insert into filestore.search_texts (project_id, file_id, version, path, mime_type, content, bytes, json_bytes, words, indexed_at)
    select project_id, id, version, path, mime_type, 'x', 1, 3, '', clock_timestamp() from filestore.files
    where project_id = ${id}
    on conflict (project_id, file_id) do update set indexed_at = excluded.indexed_at`;
  // The text of a larger file is not indexed, so such a file waits no longer.
  for (const [version, size] of [[4, 1024 * 1024], [5, 100 * 1024 * 1024]] as const) {
    await sql`delete from filestore.search_queue where project_id = ${id}`;
    await sql`update filestore.files set version = ${version}, size = ${size} where project_id = ${id}`;
    const { ms: large } = await due();
    assert(large <= 9_399 && large > 9_370 - passed(), `${size} bytes: ${large} ms`);
  }
});

test("a file at fault is tried again soon, by itself, and less and less often; a new version begins anew", async () => {
  const id = await waiting(2);
  const tries = [];
  let { leaseId, files } = await lease();
  for (let n = 0; n <= SEARCH_TRIES_MAX; n++) {
    const file = existing(files[0]);
    tries.push(file.tries);
    const elapsed = stopwatch();
    await sql`select public.filestore_search_fail(${leaseId}, ${
      sql.json([{ project_id: file.projectId, file_id: file.fileId, is_fault: true }])
    })`;
    const [row] = await sql<{ seconds: number }[]>`
      select extract(epoch from due_at - clock_timestamp())::float as seconds from filestore.search_queue
      where file_id = ${file.fileId}`;
    const expected = 2 ** (n + 1);
    assert(
      row && row.seconds <= expected && row.seconds > expected - 0.1 - elapsed() / 1000,
      `${row?.seconds} s`,
    );
    await sql`update filestore.search_queue set due_at = now() where file_id = ${file.fileId}`;
    ({ leaseId, files } = await lease());
    assertEquals(files.map(({ fileId }) => fileId), [file.fileId]);
  }
  assertEquals(tries, Array.from({ length: SEARCH_TRIES_MAX + 1 }, (_, n) => n + 1));
  await sql`update filestore.files set version = 2 where project_id = ${id} and id = ${
    files[0]?.fileId ?? ""
  }`;
  await sql`update filestore.search_queue set due_at = now() where version = 2`;
  assertEquals((await lease()).files.map((file) => file.tries), [1]);
});

test("an outage is nobody's fault: however long it lasts, no file comes to its last try", async () => {
  await waiting(1);
  for (let n = 0; n < SEARCH_TRIES_MAX + 5; n++) {
    const { leaseId, files } = await lease();
    const file = existing(files[0]);
    assertLessOrEqual(file.tries, SEARCH_TRIES_MAX);
    await sql`select public.filestore_search_fail(${leaseId}, ${
      sql.json([{ project_id: file.projectId, file_id: file.fileId, is_fault: false }])
    })`;
    await sql`update filestore.search_queue set due_at = now()`;
  }
});

test("one project's 1,000 files to be embedded: another's single file is in the very next lease", async () => {
  await waiting(1_000);
  const single = await waiting(1);
  await sql`update filestore.search_queue set stage = 2`;
  const taken = await lease({ stage: 2 });
  assertEquals(taken.files.length, SEARCH_LEASE_EMBEDDED_FILES / 2 + 1);
  assertEquals(shares(taken).get(single), 1);
});

test("a lease embeds a bounded number of chunks, of any number of files", async () => {
  for (const files of [1, 3]) {
    await sql`truncate filestore.search_queue, filestore.search_texts cascade`;
    const id = await waiting(files);
    await sql`
      insert into filestore.search_texts (project_id, file_id, version, path, mime_type, content, bytes, json_bytes, words)
      select project_id, id, 1, path, mime_type, repeat('x', 100), 100, 102, '' from filestore.files where project_id = ${id}`;
    await sql`
      insert into filestore.search_chunks (project_id, file_id, hash, version, first_line, start, length)
      select project_id, id, gen_random_uuid(), 1, 1, n, 1 from filestore.files, generate_series(0, 99) n
      where project_id = ${id}`;
    await sql`update filestore.search_queue set stage = 2`;
    const taken = await lease({ stage: 2 });
    assertEquals(
      taken.files.map(({ chunks }) => chunks.length),
      Array(files).fill(Math.floor(SEARCH_LEASE_CHUNKS / files)),
    );
  }
});
