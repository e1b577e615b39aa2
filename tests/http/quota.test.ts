/** A project's quota: every stored byte counts, history included, and the bound is exact. */
import { assertEquals } from "@std/assert";
import { assertRefused, fileRecord } from "../support/client/contract.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { suite, test } from "../support/stack/suite.ts";
import { prepare, WRITES } from "../support/client/write_kinds.ts";

const { service, files } = await suite();

const OCTETS = { "content-type": "application/octet-stream" };

async function setQuota(own: ProjectFiles, maxProjectBytes: number | null): Promise<void> {
  await service.sql("select filestore_admin_set_tier($1, 'enterprise', null, null, $2)", [
    own.project.id,
    maxProjectBytes,
  ]);
}

/** Bytes that count, as the project's rows say, and as its segments do. */
async function usageOf(own: ProjectFiles): Promise<{ counted: number; stored: number }> {
  const [row] = await service.sql<{ counted: number; stored: number }>(
    `select coalesce((select sum(u.bytes) from filestore.project_usage u where u.project_id = p.id), 0)::int as counted,
            coalesce((select sum(s.size) from filestore.segments s where s.project_id = p.id), 0)::int as stored
     from filestore.projects p where p.id = $1`,
    [own.project.id],
  );
  return row ?? { counted: -1, stored: -1 };
}

test("413 QUOTA_EXCEEDED with details.limitBytes: one byte over; exactly the quota is admitted", async () => {
  const own = await files();
  await setQuota(own, 1000);
  await own.write("a.txt", "x".repeat(600));
  const before = await service.tables();
  const refusals = [
    await own.post({ path: "b.txt", content: "x".repeat(401) }),
    await own.post(new Uint8Array(401), OCTETS, { path: "b.txt" }),
    await own.put("append", "a.txt", { content: "x".repeat(401) }),
    await own.put("append", "a.txt", new Uint8Array(401), OCTETS),
    await own.put("overwrite", "a.txt", { content: "x".repeat(401) }),
    await own.put("overwrite", "a.txt", new Uint8Array(401), OCTETS),
  ];
  for (const answer of refusals) {
    assertEquals(assertRefused(answer, "QUOTA_EXCEEDED", "write_file"), { limitBytes: 1000 });
  }
  assertEquals(await service.tables(), before);
  await own.append("a.txt", "x".repeat(400));
  assertEquals(await usageOf(own), { counted: 1000, stored: 1000 });
  assertRefused(await own.put("append", "a.txt", { content: "x" }), "QUOTA_EXCEEDED");
});

test("413 QUOTA_EXCEEDED: history counts: a delete, and an overwrite with less, free nothing", async () => {
  const own = await files();
  await setQuota(own, 10);
  await own.write("a.txt", "12345");
  await own.overwrite("a.txt", "1");
  await own.remove("a.txt");
  assertEquals(await usageOf(own), { counted: 6, stored: 6 });
  assertRefused(await own.post({ path: "b.txt", content: "12345" }), "QUOTA_EXCEEDED");
  await own.write("b.txt", "1234");
});

for (const kind of WRITES) {
  const outcome = kind.stores ? "413 QUOTA_EXCEEDED, nothing changed" : "200, for it stores nothing";
  test(`${kind.name} with the quota used up, or over since it was lowered: ${outcome}`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    await prepare(own, "g.txt");
    const { stored } = await usageOf(own);
    for (const [path, quota] of [["f.txt", stored], ["g.txt", 1]] as const) {
      await setQuota(own, quota);
      // The first one under a quota makes the row, of nothing, on which all others take turns.
      if (kind.stores) await kind.send(own, path);
      const before = await service.tables();
      const answer = await kind.send(own, path);
      if (kind.stores) {
        assertEquals(assertRefused(answer, "QUOTA_EXCEEDED", kind.operation), { limitBytes: quota });
        assertEquals(await service.tables(), before);
      } else assertEquals(answer.status, 200, answer.text);
    }
    assertEquals(await usageOf(own), { counted: stored, stored });
  });
}

test("200: an empty file and an edit that only takes away need no more than they store", async () => {
  const own = await files();
  await own.write("f.txt", "abc");
  await setQuota(own, 3);
  await own.write("empty.txt", "");
  await own.overwrite("f.txt", "");
  await own.restore("f.txt", 1);
  assertEquals((await own.edit("f.txt", "abc", "")).size, 0);
  assertRefused(await own.tryEdit("empty.txt", "x", "y"), "STRING_NOT_FOUND");
  assertEquals(await usageOf(own), { counted: 3, stored: 3 });
});

test("the quota is exact under parallel writers: as many succeed as there is room for", async () => {
  const own = await files();
  await own.write("shared.log", "");
  await setQuota(own, 7 * 100 + 99);
  const content = "x".repeat(100);
  const answers = await Promise.all(Array.from({ length: 32 }, (_, index) => {
    if (index % 3 === 0) return own.put("append", "shared.log", { content });
    if (index % 3 === 1) return own.post({ path: `${index}.txt`, content });
    return own.post(new TextEncoder().encode(content), OCTETS, { path: `${index}.bin` });
  }));
  const succeeded = answers.filter(({ status }) => status === 200);
  assertEquals(succeeded.length, 7);
  for (const answer of answers) {
    if (answer.status !== 200) assertRefused(answer, "QUOTA_EXCEEDED", "write_file");
  }
  assertEquals(await usageOf(own), { counted: 700, stored: 700 });
});

test("what was counted without a quota counts when one is set, exactly", async () => {
  const own = await files();
  await Promise.all(Array.from({ length: 20 }, (_, index) => own.write(`${index}.txt`, "12345")));
  assertEquals(await usageOf(own), { counted: 100, stored: 100 });
  await setQuota(own, 105);
  await own.write("fits.txt", "12345");
  assertRefused(await own.post({ path: "over.txt", content: "1" }), "QUOTA_EXCEEDED");
  await setQuota(own, null);
  assertEquals((await own.write("over.txt", "x".repeat(1000))).size, 1000);
});

test("a tier's quota holds for its projects; a project's own goes first", async () => {
  const own = await files();
  await service.sql(
    "insert into filestore.tiers (name, max_project_bytes) values ('capped', 10) on conflict do nothing",
  );
  await service.sql("update filestore.projects set tier = 'capped' where id = $1", [own.project.id]);
  const refused = await own.post({ path: "a.txt", content: "x".repeat(11) });
  assertEquals(assertRefused(refused, "QUOTA_EXCEEDED"), { limitBytes: 10 });
  await service.sql("update filestore.projects set max_project_bytes = 20 where id = $1", [own.project.id]);
  assertEquals((await own.write("a.txt", "x".repeat(11))).size, 11);
});

test("a replay and a dry run need no quota", async () => {
  const own = await files();
  const once = { "idempotency-key": "k" };
  const append = () => own.put("append", "f.txt", { content: "more" }, once);
  await own.write("f.txt", "old");
  assertEquals((await append()).status, 200);
  await setQuota(own, 1);
  const replay = await append();
  assertEquals([replay.status, replay.headers.get("idempotency-replayed")], [200, "true"]);
  assertEquals((await own.tryEdit("f.txt", "old", "new", { dryRun: true })).status, 200);
});

test("one project's quota is not another's", async () => {
  const [own, other] = [await files(), await files()];
  await setQuota(own, 5);
  await own.write("a.txt", "12345");
  assertEquals(fileRecord.parse(await other.write("a.txt", "123456789")).size, 9);
  assertRefused(await own.post({ path: "b.txt", content: "1" }), "QUOTA_EXCEEDED");
});
