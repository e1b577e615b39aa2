/** Idempotency-Key: a repeated request gets the same answer, and adds no second version. */
import { assert, assertEquals } from "@std/assert";
import { owner } from "../support/client/accounts.ts";
import { assertRefused } from "../support/client/contract.ts";
import { eventually } from "../support/eventually.ts";
import { Files, ProjectFiles } from "../support/client/files.ts";
import { assertStale } from "../support/client/preconditions.ts";
import { prepare, WRITES } from "../support/client/write_kinds.ts";
import cases, { assertReplayed } from "../acceptance/idempotency.ts";
import { acceptance, suite } from "../support/stack/suite.ts";

const { service, files, test } = await suite();

await acceptance(cases);

for (const kind of WRITES) {
  test(`Idempotency-Key: ${kind.name} again, whatever has become of the file since`, async (own) => {
    await prepare(own, "f.txt");
    const once = { "idempotency-key": "k" };
    const first = await kind.send(own, "f.txt", once);
    await own.write("f.txt", "later");
    assertReplayed(await kind.send(own, "f.txt", once), first);
    await own.remove("f.txt");
    // The function has not cached this API key, so it asks the database about the path before it reads the body.
    const { id, key } = await service.key(own.project.id);
    const stranger = new ProjectFiles(service, { ...own.project, key });
    const callAs = "update filestore.idempotency_keys set caller_id = $2 where project_id = $1";
    await service.sql(callAs, [own.project.id, id]);
    assertReplayed(await kind.send(stranger, "f.txt", once), first);
    // The idempotency key belongs to the other API key. For this one the request is new.
    const again = await kind.send(own, "f.txt", once);
    assertEquals(again.headers.get("idempotency-replayed"), null);
    await service.sql("delete from filestore.idempotency_keys where caller_id = $1", [own.project.keyId]);
    await service.sql(callAs, [own.project.id, own.project.keyId]);
    // The preconditions held for the first request and no longer hold; the repeat still gets the first answer.
    assertReplayed(await kind.send(own, "f.txt", { ...once, "if-match": '"stale"' }), first);
  });

  test(`Idempotency-Key: refusals are not remembered: ${kind.name} succeeds with the same key once the cause is gone`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const once = { "idempotency-key": "k" };
    const refused = await kind.send(own, "f.txt", { ...once, "if-match": '"stale"' });
    assertStale(refused, 2, kind.operation);
    if (kind.needsFile) assertRefused(await kind.send(own, "new.txt", once), "FILE_NOT_FOUND");
    const remembered = "select from filestore.idempotency_keys where project_id = $1";
    assertEquals(await service.sql(remembered, [own.project.id]), []);
    const first = await kind.send(own, "f.txt", once);
    assertEquals([first.status, first.headers.get("idempotency-replayed")], [200, null]);
    assertReplayed(await kind.send(own, "f.txt", once), first);
  });
}

test("Idempotency-Key: two API keys and the console may use the same one for different requests", async () => {
  const account = await owner(service);
  const once = { "idempotency-key": "1" };
  const [first, second] = [await account.createKey(), await account.createKey({ pathPrefix: "b" })];
  const senders = [
    ["a.txt", new Files(service, first.key)],
    ["b/b.txt", new Files(service, second.key)],
    ["c.txt", account],
  ] as const;
  for (const [path, send] of senders) {
    const write = () => send.request("POST", "/files", { body: { path, content: path }, headers: once });
    const answer = await write();
    assertEquals([answer.status, answer.headers.get("idempotency-replayed")], [200, null], path);
    assertReplayed(await write(), answer);
  }
});

test("Idempotency-Key: a large append that filled the tier is still answered", async () => {
  const own = await files("free");
  await own.write("big.log", "x".repeat(4_000_000));
  const once = { "idempotency-key": "big" };
  const append = () => own.put("append", "big.log", { content: "y".repeat(6_000_000) }, once);
  const first = await append();
  assertEquals(first.status, 200, first.text.slice(0, 300));
  assertReplayed(await append(), first);
  const raw = new TextEncoder().encode("z".repeat(300_000));
  const headers = { "content-type": "application/octet-stream", "idempotency-key": "raw" };
  const second = await own.put("append", "big.log", raw, headers);
  assertReplayed(await own.put("append", "big.log", raw, headers), second);
  assertEquals((await own.record("big.log")).size, 10_300_000);
});

const AGED =
  "update filestore.idempotency_keys set created_at = created_at - $2::interval where project_id = $1";

for (const kind of WRITES) {
  test(`Idempotency-Key: after 24 hours ${kind.name} is a new request`, async (own) => {
    await prepare(own, "f.txt");
    const once = { "idempotency-key": "k" };
    const first = await kind.send(own, "f.txt", once);
    await service.sql(AGED, [own.project.id, "23 hours 59 minutes"]);
    assertReplayed(await kind.send(own, "f.txt", once), first);
    await service.sql(AGED, [own.project.id, "2 minutes"]);
    await own.restore("f.txt", 2);
    const path = kind.name === "PUT copy" ? "f.txt.copy" : kind.name === "PUT move" ? "f.txt.moved" : null;
    if (path !== null) await own.remove(path);
    const again = await kind.send(own, "f.txt", once);
    assertEquals([again.status, again.headers.get("idempotency-replayed")], [200, null], again.text);
    assertReplayed(await kind.send(own, "f.txt", once), again);
  });
}

test("Idempotency-Key: each use of a key deletes a few keys over 24 hours old", async (own) => {
  const use = (key: string) => own.post({ path: "f.txt", content: key }, { "idempotency-key": key });
  for (let index = 0; index < 25; index++) await use(`old-${index}`);
  await service.sql(AGED, [own.project.id, "25 hours"]);
  await use("young");
  const keys = "select key from filestore.idempotency_keys where project_id = $1 order by key";
  const left = async () => (await service.sql<{ key: string }>(keys, [own.project.id])).map(({ key }) => key);
  const counts = [(await left()).length];
  for (let index = 0; counts.at(-1) !== index + 1 && index < 10; index++) {
    await use(`new-${index}`);
    counts.push((await left()).length);
  }
  assert(counts[0] !== undefined && counts[0] < 26, "one use sweeps some");
  const areYoung = async () => (await left()).every((key) => !key.startsWith("old"));
  await eventually("only young keys are left", areYoung);
  assert((await left()).includes("young"), "a young key stays");
});
