/** A project's quota covers stored bytes, history included, and the tariff of its rows. Its usage is exact. */
import { assert, assertEquals } from "@std/assert";
import { assertRefused, dataOf, projectRecord } from "../support/client/contract.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { costOf, TARIFF_INDEXED_FACTOR, TARIFF_SEGMENT_BYTES } from "../support/client/tariff.ts";
import { prepare, WRITES } from "../support/client/write_kinds.ts";
import { databaseBytes } from "../support/postgres/consistency.ts";
import { suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

const OCTETS = { "content-type": "application/octet-stream" };

async function setQuota(own: ProjectFiles, maxProjectBytes: number | null): Promise<void> {
  await service.sql(
    "select filestore_admin_update_project($1, jsonb_build_object('tier', 'enterprise', 'maxProjectBytes', $2::bigint))",
    [own.project.id, maxProjectBytes],
  );
}

/** Sets the quota so that `bytes` bytes are left. Returns the quota. */
async function leave(own: ProjectFiles, bytes: number): Promise<number> {
  const quota = await used(own) + bytes;
  await setQuota(own, quota);
  return quota;
}

interface Usage {
  readonly bytes: number;
  readonly databaseBytes: number;
}

/** The project's recorded usage. Throws unless it equals the sum over its segments, files and versions. */
async function usageOf(own: ProjectFiles): Promise<Usage> {
  const [row] = await service.sql<{ counted: Usage; found: Usage }>(
    `select jsonb_build_object('bytes', coalesce(sum(u.bytes), 0), 'databaseBytes', coalesce(sum(u.database_bytes), 0))
              as counted,
            jsonb_build_object('bytes', coalesce((
                select sum(s.size) from filestore.segments s where s.project_id = $1), 0),
              'databaseBytes', (${databaseBytes("$1")})) as found
     from filestore.project_usage u where u.project_id = $1`,
    [own.project.id],
  );
  if (!row) throw new Error("no usage");
  assertEquals(row.counted, row.found);
  return row.counted;
}

async function used(own: ProjectFiles): Promise<number> {
  const { bytes, databaseBytes } = await usageOf(own);
  return bytes + databaseBytes;
}

test("413 QUOTA_EXCEEDED with details.limitBytes: one byte over; exactly the quota is admitted", async () => {
  const own = await files();
  await own.write("a.txt", "x".repeat(600));
  assertEquals(await used(own), costOf({ newPath: "a.txt", stored: 600 }));
  const limitBytes = await leave(own, costOf({ stored: 400, listed: 2 }));
  const before = await service.tables();
  const refusals = [
    await own.post({ path: "b.txt", content: "x".repeat(401) }),
    await own.post(new Uint8Array(401), OCTETS, { path: "b.txt" }),
    await own.put("append", "a.txt", { content: "x".repeat(401) }),
    await own.put("append", "a.txt", new Uint8Array(401).fill(32), OCTETS),
    await own.put("overwrite", "a.txt", { content: "x".repeat(1100) }),
    await own.put("overwrite", "a.txt", new Uint8Array(1100).fill(32), OCTETS),
  ];
  for (const answer of refusals) {
    assertEquals(assertRefused(answer, "QUOTA_EXCEEDED", "write_file"), { limitBytes });
  }
  assertEquals(await service.tables(), before);
  await own.append("a.txt", "x".repeat(400));
  assertEquals(await used(own), limitBytes);
  assertRefused(await own.put("append", "a.txt", { content: "x" }), "QUOTA_EXCEEDED");
});

test("the tariff: what each kind of write counts, to the byte; GET /project shows it", async (own) => {
  const writes = [
    () => own.write("notes/2026/plan.md", "one two three"),
    () => own.append("notes/2026/plan.md", " four"),
    () => own.edit("notes/2026/plan.md", "two ", ""),
    () => own.copy("notes/2026/plan.md", "copy.md"),
    () => own.move("copy.md", "moved.md"),
    () => own.remove("moved.md"),
    () => own.restore("moved.md", 1),
    () => own.write("photo.png", "not text by its type"),
    () => own.post(Uint8Array.of(0xff, 0xfe), OCTETS, { path: "bytes.txt" }),
    () => own.write("long.txt", "x".repeat(1024 * 1024 + 1)),
  ];
  const counts: number[] = [];
  for (const write of writes) {
    const before = await used(own);
    await write();
    counts.push(await used(own) - before);
  }
  const text = "one three four";
  assertEquals(counts.slice(0, 2), [
    costOf({ newPath: "notes/2026/plan.md", stored: 13 }),
    costOf({ stored: 5, listed: 2 }),
  ]);
  // The tariff does not depend on how an edit divides the text into segments.
  assert((counts[2] ?? 0) > 0);
  const segments =
    "select cardinality(segment_ids) as n from filestore.files where project_id = $1 and path = $2";
  const [listed] = await service.sql<{ n: number }>(segments, [own.project.id, "moved.md"]);
  const shared = { stored: 0, listed: listed?.n ?? 0 };
  assertEquals(counts.slice(3), [
    costOf({ newPath: "copy.md", isShared: true, ...shared, indexed: text.length }),
    costOf({ newPath: "moved.md", isShared: true, ...shared, indexed: text.length }) +
    costOf({ stored: 0, listed: 0, indexed: -text.length }),
    costOf({ stored: 0, listed: 0, indexed: -text.length }),
    costOf({ ...shared, indexed: text.length }),
    costOf({ newPath: "photo.png", stored: 20, indexed: 0 }),
    costOf({ newPath: "bytes.txt", stored: 2, indexed: 0 }),
    costOf({ newPath: "long.txt", stored: 1024 * 1024 + 1, listed: 2, indexed: 0 }) + TARIFF_SEGMENT_BYTES,
  ]);
  const answer = await own.request("GET", "/project");
  const { usage } = dataOf(answer, "get_project", projectRecord);
  assertEquals({ bytes: usage.bytes, databaseBytes: usage.databaseBytes }, await usageOf(own));
});

test("413 QUOTA_EXCEEDED: history counts: a delete, and an overwrite with less, free no stored byte", async () => {
  const own = await files();
  await own.write("a.txt", "12345");
  await own.overwrite("a.txt", "1");
  await own.remove("a.txt");
  assertEquals((await usageOf(own)).bytes, 6);
  await leave(own, costOf({ newPath: "b.txt", stored: 4 }));
  assertRefused(await own.post({ path: "b.txt", content: "12345" }), "QUOTA_EXCEEDED");
  await own.write("b.txt", "1234");
});

for (const kind of WRITES) {
  const isRefused = kind.name !== "DELETE";
  const outcome = isRefused
    ? "413 QUOTA_EXCEEDED, nothing changed"
    : "200: a deletion is never refused for it";
  test(`${kind.name} with the quota used up, or over since it was lowered: ${outcome}`, async (own) => {
    await prepare(own, "f.txt");
    await prepare(own, "g.txt");
    const quotas = [["f.txt", await used(own)], ["g.txt", 1]] as const;
    for (const [path, quota] of quotas) {
      await setQuota(own, quota);
      const before = await service.tables();
      const answer = await kind.send(own, path);
      if (isRefused) {
        assertEquals(assertRefused(answer, "QUOTA_EXCEEDED", kind.operation), { limitBytes: quota });
        assertEquals(await service.tables(), before);
      } else assertEquals(answer.status, 200, answer.text);
    }
    await usageOf(own);
  });
}

test("what a deletion took out of the search index can be written again, and no more", async (own) => {
  await own.write("f.txt", "x".repeat(10_000));
  await leave(own, 0);
  assertRefused(await own.post({ path: "g.txt", content: "y" }), "QUOTA_EXCEEDED");
  await own.remove("f.txt");
  const left = -costOf({ stored: 0, listed: 0, indexed: -10_000 });
  const perByte = 1 + TARIFF_INDEXED_FACTOR;
  const most = Math.floor((left - costOf({ newPath: "g.txt", stored: 1 })) / perByte) + 1;
  assertRefused(await own.post({ path: "g.txt", content: "y".repeat(most + 1) }), "QUOTA_EXCEEDED");
  await own.write("g.txt", "y".repeat(most));
  await usageOf(own);
});

test("what was counted without a quota counts when one is set, exactly", async (own) => {
  await Promise.all(Array.from({ length: 20 }, (_, index) => own.write(`${10 + index}.txt`, "12345")));
  assertEquals(await used(own), 20 * costOf({ newPath: "10.txt", stored: 5 }));
  await leave(own, costOf({ newPath: "fits.txt", stored: 5 }));
  await own.write("fits.txt", "12345");
  assertRefused(await own.post({ path: "over.txt", content: "1" }), "QUOTA_EXCEEDED");
  await setQuota(own, null);
  assertEquals((await own.write("over.txt", "x".repeat(1000))).size, 1000);
});

test("a tier's quota holds for its projects; a project's own goes first", async (own) => {
  const cost = costOf({ newPath: "a.txt", stored: 11 });
  const capped =
    "insert into filestore.tiers (name, max_project_bytes) values ('capped', $1) on conflict do nothing";
  await service.sql(capped, [cost - 1]);
  await service.sql("update filestore.projects set tier = 'capped' where id = $1", [own.project.id]);
  const refused = await own.post({ path: "a.txt", content: "x".repeat(11) });
  assertEquals(assertRefused(refused, "QUOTA_EXCEEDED"), { limitBytes: cost - 1 });
  const quota = "update filestore.projects set max_project_bytes = $2 where id = $1";
  await service.sql(quota, [own.project.id, cost]);
  assertEquals((await own.write("a.txt", "x".repeat(11))).size, 11);
});

test("a replay and a dry run need no quota", async (own) => {
  const once = { "idempotency-key": "k" };
  const append = () => own.put("append", "f.txt", { content: "more" }, once);
  await own.write("f.txt", "old");
  assertEquals((await append()).status, 200);
  await setQuota(own, 1);
  const replay = await append();
  assertEquals([replay.status, replay.headers.get("idempotency-replayed")], [200, "true"]);
  assertEquals((await own.tryEdit("f.txt", "old", "new", { dryRun: true })).status, 200);
});
