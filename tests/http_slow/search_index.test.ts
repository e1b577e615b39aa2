/** The index follows writes without being asked, misses none, and indexes none twice. */
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import {
  SEARCH_GIVEN_UP_SECONDS,
  SEARCH_INDEX_DELAY_MILLISECONDS,
  SEARCH_LEASE_BYTES,
} from "../../supabase/functions/api/limits.ts";
import { eventually } from "../support/eventually.ts";
import { encodePath, Files } from "../support/client/files.ts";
import { indexed, pathsOf, search } from "../support/client/search.ts";
import { startService } from "../support/stack/service.ts";
import { test } from "../support/stack/suite.ts";

/** Promised for an idle stack. */
const VISIBLE_WITHIN_MILLISECONDS = 2_000;
const PROCESSES = 3;
/**
 * The most leases taken until a text is indexed: the one that includes it, and the last one of each process's earlier
 * run.
 */
const LEASES_MAX = PROCESSES + 1;

const service = await startService({ functionProcesses: PROCESSES });
Deno.test.afterAll(() => service.stop());

async function files(): Promise<Files & { readonly projectId: string }> {
  const project = await service.project();
  return Object.assign(new Files(service, project.key), { projectId: project.id });
}

/** Asks the database, since a search would start indexing. */
async function textsOf(projectId: string): Promise<string[]> {
  const lines = `select path || ' ' || version || ' ' || content as line from filestore.search_texts
    where project_id = $1 order by path`;
  return (await service.sql<{ line: string }>(lines, [projectId])).map(({ line }) => line);
}

const find = async (own: Files, q: string) => pathsOf(await search(own, q, { mode: "text" }));

test("a write is found within 2 s on an idle stack, without anybody asking for it", async () => {
  const own = await files();
  await own.write("warm.txt", "warm");
  await indexed(service);
  let leases = 0;
  service.proxy.backgroundHook = ({ path }, forward) => {
    if (path.includes("lease")) leases++;
    return forward();
  };
  await own.write("f.txt", "needle");
  await eventually("the text is in the index", async () => (await textsOf(own.projectId)).length === 2);
  service.proxy.backgroundHook = null;
  // The time consists of the calls themselves and this delay.
  assert(LEASES_MAX * SEARCH_INDEX_DELAY_MILLISECONDS < VISIBLE_WITHIN_MILLISECONDS);
  assert(leases <= LEASES_MAX, `${leases} leases`);
  assertEquals(await find(own, "needle"), ["f.txt"]);
});

test("a write makes no call more before its answer, and its answer waits for no indexing", async () => {
  const own = await files();
  await own.write("f.txt", "one");
  await indexed(service);
  const held = Promise.withResolvers<void>();
  const seen: string[] = [];
  service.proxy.backgroundHook = async ({ path }, forward) => {
    seen.push(path);
    await held.promise;
    return await forward();
  };
  try {
    for (let n = 0; n < PROCESSES; n++) await own.write("f.txt", `known ${n}`);
    const calls = await service.proxy.during(() => own.write("f.txt", "two"));
    assertEquals(calls.map(({ target }) => target), ["storage", "database"]);
    await eventually("indexing begins after the answer", () => seen.length > 0);
  } finally {
    held.resolve();
    service.proxy.backgroundHook = null;
  }
  await indexed(service);
  assertEquals(await textsOf(own.projectId), ["f.txt 5 two"]);
});

test("append, overwrite, edit, delete, restore, copy, move: what is found is what is there", async () => {
  const own = await files();
  const put = (what: string, body: unknown) => own.request("PUT", what, { body });
  const path = encodePath("a/f.txt");
  const both = "alpha\nbeta\n";
  const steps: readonly (readonly [string, () => Promise<unknown>, readonly string[]])[] = [
    ["write", () => own.write("a/f.txt", "alpha\n"), ["a/f.txt 1 alpha\n"]],
    ["append", () => own.append("a/f.txt", "beta\n"), ["a/f.txt 2 alpha\nbeta\n"]],
    ["edit", () => own.edit("a/f.txt", "alpha", "gamma"), ["a/f.txt 3 gamma\nbeta\n"]],
    ["overwrite", () => own.overwrite("a/f.txt", "delta"), ["a/f.txt 4 delta"]],
    ["delete", () => own.request("DELETE", `/files/${path}`), []],
    ["restore", () => put(`/files/restore/${path}`, { version: 2 }), ["a/f.txt 6 alpha\nbeta\n"]],
    ["copy", () => put(`/files/copy/${path}`, { destination: "b.txt" }), [
      `a/f.txt 6 ${both}`,
      `b.txt 1 ${both}`,
    ]],
    ["move", () => put(`/files/move/${path}`, { destination: "c.txt" }), [
      `b.txt 1 ${both}`,
      `c.txt 1 ${both}`,
    ]],
  ];
  for (const [name, step, expected] of steps) {
    await step();
    await indexed(service);
    assertEquals(await textsOf(own.projectId), expected, name);
    for (const word of ["alpha", "beta", "gamma", "delta"]) {
      const paths = expected.filter((line) => line.includes(word)).map((line) => line.split(" ")[0] ?? "");
      assertEquals(await find(own, word), paths, `${word} after ${name}`);
    }
  }
});

test("what is not indexed yet is counted as pending, and old or deleted text is not found meanwhile", async () => {
  const own = await files();
  await own.write("f.txt", "old text");
  await own.write("g.txt", "old text");
  await indexed(service);
  const held = Promise.withResolvers<void>();
  service.proxy.backgroundHook = async (_call, forward) => {
    await held.promise;
    return await forward();
  };
  try {
    await own.overwrite("f.txt", "new words");
    await own.request("DELETE", "/files/g.txt");
    const page = await search(own, "old text", { mode: "text" });
    assertEquals([pathsOf(page), page.indexed.pending], [[], 2]);
    assertEquals((await search(own, "x", { mode: "text", directory: "elsewhere" })).indexed.pending, 0);
  } finally {
    held.resolve();
    service.proxy.backgroundHook = null;
  }
  await indexed(service);
  assertEquals(await find(own, "new words"), ["f.txt"]);
});

function sweep(): Promise<Response> {
  const headers = { authorization: `Bearer ${service.stack.secretKey}` };
  return fetch(`${service.baseUrl}/sweep`, { method: "POST", headers });
}

test("the sweep takes what was left behind", async () => {
  const own = await files();
  await own.write("f.txt", "needle");
  await indexed(service);
  // After a restart no process has an earlier run that would index the file first.
  await service.restartFunction();
  await service.sql("delete from filestore.search_texts where project_id = $1", [own.projectId]);
  await service.sql(
    `insert into filestore.search_queue (project_id, file_id, version, path, bytes, due_at)
     select project_id, id, version, path, size, clock_timestamp() from filestore.files where project_id = $1`,
    [own.projectId],
  );
  const answer = await sweep();
  const { data } = await answer.json();
  assertEquals([answer.status, data.indexed], [200, 1]);
  assertEquals(await textsOf(own.projectId), ["f.txt 1 needle"]);
});

/** Makes the database refuse to index files with this name, as if their text were too much for it. */
async function refusing(path: string, body: () => Promise<void>): Promise<void> {
  await service.stack.script(`
    create function public.refuse_text() returns trigger language plpgsql as $$ begin
      if new.path = '${path}' and new.skipped is null then raise 'too much' using errcode = '54000'; end if;
      return new;
    end $$;
    create trigger refuse_text before insert or update on filestore.search_texts
      for each row execute function public.refuse_text()`);
  try {
    await body();
  } finally {
    const drop = "drop trigger refuse_text on filestore.search_texts; drop function public.refuse_text";
    await service.stack.script(drop);
  }
}

test("a file that cannot be indexed harms only itself, is found by its name then, and tried again an hour later", async () => {
  const own = await files();
  const neighbour = await files();
  await refusing("poison.txt", async () => {
    await own.write("poison.txt", "needle");
    await Promise.all(["a.txt", "b.txt", "c.txt"].map((path) => own.write(path, "needle")));
    await neighbour.write("note.txt", "needle");
    const countOf = async ({ projectId }: typeof own) => (await textsOf(projectId)).length;
    const areIndexed = async () => await countOf(own) === 3 && await countOf(neighbour) === 1;
    await eventually("all others are indexed", areIndexed);
    const isGivenUp = async () => (await textsOf(own.projectId)).length === 4;
    await eventually("it is tried again by itself and given up, with nobody's help", isGivenUp);
    const page = await search(own, "poison");
    assertEquals(page.results.map(({ path, skipped }) => [path, skipped]), [["poison.txt", "not_indexable"]]);
    assertEquals([page.indexed.pending, page.notSearched?.reasons], [0, ["not_indexable"]]);
    assertEquals(await find(own, "needle"), ["a.txt", "b.txt", "c.txt", "poison.txt"], "read, not indexed");
  });
  await sweep().then(({ body }) => body?.cancel());
  const ranked = async () => pathsOf(await search(own, "needle")).toSorted();
  assertEquals(await ranked(), ["a.txt", "b.txt", "c.txt"], "not at once");
  await service.sql(
    "update filestore.search_texts set indexed_at = indexed_at - $2 * interval '1 second' where project_id = $1",
    [own.projectId, SEARCH_GIVEN_UP_SECONDS],
  );
  for (const _ of [1, 2]) await sweep().then(({ body }) => body?.cancel());
  assertEquals(await ranked(), ["a.txt", "b.txt", "c.txt", "poison.txt"]);
});

const PARTS = 8;

/** Random words; frequent words occur far more often than rare ones. */
function prose(bytes: number): string {
  const text: string[] = [];
  for (let size = 0; size < bytes; size += 7) {
    const number = Math.floor(20_000 ** Math.random()) * 7919;
    text.push(`${number.toString(36).padStart(6, "x").slice(0, 6)}${size % 10 === 0 ? "\n" : " "}`);
  }
  return text.join("");
}

for (const [waiting, bytes] of [[1_000, 20_000], [50, 1_000_000]] as const) {
  test(`a note is found soon while ${waiting} files of ${bytes} bytes of another project wait`, async () => {
    const own = await files();
    const crowd = await files();
    await own.write("warm.txt", "warm");
    for (let part = 0; part < PARTS + 4; part++) await crowd.write(`part${part}.txt`, prose(bytes / PARTS));
    await indexed(service);
    const inIndex = async () => {
      const [row] = await service.sql<{ texts: string | number; waiting: string | number }>(
        `select (select count(*) from filestore.search_texts where project_id = $1) as texts,
           (select count(*) from filestore.search_queue where project_id = $2) as waiting`,
        [own.projectId, crowd.projectId],
      );
      return { texts: Number(row?.texts), waiting: Number(row?.waiting) };
    };
    // As after a long outage of indexing. Each file consists of existing parts, in an order of its own.
    await service.sql(
      `insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
       select $1, 'f' || n, 1, 'text/plain', s.size, s.segment_ids, now(), now()
       from generate_series(1, $2::integer) n cross join lateral (
         select sum(p.size) as size, array_agg(p.segment_ids[1]) as segment_ids from (
           select f.size, f.segment_ids from filestore.files f where f.project_id = $1 and f.path like 'part%'
           order by md5(n || f.path) limit $3::integer) p
       ) s`,
      [crowd.projectId, waiting, PARTS],
    );
    // Indexing is under way when the note is written.
    await search(crowd, "words", { mode: "text", limit: 1 });
    await eventually("indexing has begun", async () => (await inIndex()).waiting < waiting);
    const started = performance.now();
    await own.write("note.txt", "needle");
    const before = await inIndex();
    let now = before;
    await eventually("the note is in the index", async () => (now = await inIndex()).texts === 2);
    const milliseconds = Math.round(performance.now() - started);
    // deno-lint-ignore no-console -- figures that the test was run for
    console.log(`found after ${milliseconds} ms, ${before.waiting - now.waiting} files later`);
    // The files of the lease under way, and of each process's next lease, which includes the note.
    const perLease = Math.max(SEARCH_LEASE_BYTES / bytes, 1) + 1;
    assertLessOrEqual(before.waiting - now.waiting, 2 * PROCESSES * perLease);
    await service.sql("delete from filestore.search_queue where project_id = $1", [crowd.projectId]);
  });
}

test(`${PROCESSES} processes index every last version, and no version twice`, async () => {
  const own = await files();
  await service.stack.script(`
    create table public.indexed_log (file_id uuid, version integer);
    create function public.log_indexed() returns trigger language plpgsql security definer as
      $$ begin insert into public.indexed_log values (new.file_id, new.version); return null; end $$;
    create trigger log_indexed after insert or update of version on filestore.search_texts
      for each row execute function public.log_indexed()`);
  try {
    await Promise.all(Array.from({ length: 8 }, async (_, worker) => {
      for (let n = 0; n < 10; n++) {
        await own.write(`f${(worker * 3 + n) % 20}.txt`, `text ${worker} ${n}`);
        await own.write("hot.txt", `text ${worker} ${n}`);
      }
    }));
    await indexed(service, own.projectId);
    const twice = await service.sql(
      "select file_id, version, count(*) as count from public.indexed_log group by 1, 2 having count(*) > 1",
    );
    assertEquals(twice, []);
    const [stale] = await service.sql<{ count: string | number }>(
      `select count(*) as count from filestore.files f
       left join filestore.search_texts t on t.project_id = f.project_id and t.file_id = f.id and t.version = f.version
       where f.project_id = $1 and t.file_id is null`,
      [own.projectId],
    );
    assertEquals(Number(stale?.count), 0);
  } finally {
    await service.stack.script(
      "drop trigger log_indexed on filestore.search_texts; drop function public.log_indexed; drop table public.indexed_log",
    );
  }
});
