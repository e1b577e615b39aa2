/** Idempotency-Key: the same request twice is the same answer twice, and one version. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { type Answer, assertRefused, issuePaths } from "../support/client/contract.ts";
import { eventually } from "../support/eventually.ts";
import { ProjectFiles } from "../support/client/files.ts";
import { assertStale, tagOf } from "../support/client/preconditions.ts";
import { suite, test } from "../support/stack/suite.ts";
import { prepare, WRITES } from "../support/client/write_kinds.ts";

const { service, files } = await suite();

const withData = z.looseObject({ data: z.record(z.string(), z.unknown()), operation: z.string() });

/** Asserts that `again` is what `first` was, and says so. */
function assertReplayed(again: Answer, first: Answer): void {
  assertEquals(again.status, 200, again.text);
  assertEquals(again.headers.get("idempotency-replayed"), "true");
  assertEquals(first.headers.get("idempotency-replayed"), null);
  const [one, other] = [withData.parse(first.body), withData.parse(again.body)];
  assertEquals([other.operation, other.data], [one.operation, one.data]);
  assertEquals(tagOf(again), tagOf(first));
}

for (const kind of WRITES) {
  test(`Idempotency-Key: ${kind.name} again gives the first answer and makes nothing, no object either`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const once = { "idempotency-key": `key of ${kind.name}` };
    const first = await kind.send(own, "f.txt", once);
    assertEquals(first.status, 200, first.text);
    const after = await service.tables();
    for (let times = 0; times < 3; times++) assertReplayed(await kind.send(own, "f.txt", once), first);
    assertEquals(await service.tables(), after);
  });

  test(`Idempotency-Key: ${kind.name} again, whatever has become of the file since`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const once = { "idempotency-key": "k" };
    const first = await kind.send(own, "f.txt", once);
    await own.write("f.txt", "later");
    assertReplayed(await kind.send(own, "f.txt", once), first);
    await own.remove("f.txt");
    // An API key that the function does not know yet: it asks what is at the path before it reads the body.
    const { key } = await service.key(own.project.id);
    const stranger = new ProjectFiles(service, { ...own.project, key });
    assertReplayed(await kind.send(stranger, "f.txt", once), first);
    // Preconditions that held for the first one do not hold any more; the answer is still its answer.
    assertReplayed(await kind.send(own, "f.txt", { ...once, "if-match": '"stale"' }), first);
  });

  test(`422 IDEMPOTENCY_KEY_REUSED: ${kind.name} with the key of another body, path or route; nothing changed`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    await prepare(own, "g.txt");
    const once = { "idempotency-key": "k" };
    assertEquals((await kind.send(own, "f.txt", once)).status, 200);
    const before = await service.tables();
    const answers = [await kind.send(own, "g.txt", once)];
    if (kind.name !== "DELETE") answers.push(await kind.send(own, "f.txt", once, "!"));
    for (const answer of answers) {
      assertEquals(assertRefused(answer, "IDEMPOTENCY_KEY_REUSED", kind.operation), {});
    }
    for (const other of WRITES.filter(({ name }) => name !== kind.name)) {
      const answer = await other.send(own, "f.txt", once);
      assertEquals(assertRefused(answer, "IDEMPOTENCY_KEY_REUSED", other.operation), {}, other.name);
    }
    assertEquals(await service.tables(), before);
  });

  test(`Idempotency-Key: refusals are not remembered: ${kind.name} succeeds with the same key once the cause is gone`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const once = { "idempotency-key": "k" };
    const refused = await kind.send(own, "f.txt", { ...once, "if-match": '"stale"' });
    assertStale(refused, 2, kind.operation);
    if (kind.needsFile) assertRefused(await kind.send(own, "new.txt", once), "FILE_NOT_FOUND");
    const [row] = await service.sql(
      "select count(*)::int as keys from filestore.idempotency_keys where project_id = $1",
      [
        own.project.id,
      ],
    );
    assertEquals(row, { keys: 0 });
    const first = await kind.send(own, "f.txt", once);
    assertEquals([first.status, first.headers.get("idempotency-replayed")], [200, null]);
    assertReplayed(await kind.send(own, "f.txt", once), first);
  });
}

test("Idempotency-Key: refusals of every sort are not remembered", async () => {
  const own = await files("enterprise", { maxFileBytes: 100 });
  await own.write("f.txt", "old old");
  const once = { "idempotency-key": "k" };
  const refusals: [Promise<Answer>, Parameters<typeof assertRefused>[1]][] = [
    [own.put("edit", "f.txt", { oldString: "none", newString: "x" }, once), "STRING_NOT_FOUND"],
    [own.put("edit", "f.txt", { oldString: "old", newString: "x" }, once), "STRING_NOT_UNIQUE"],
    [own.put("append", "f.txt", { content: "x".repeat(100) }, once), "CONTENT_TOO_LARGE"],
    [own.put("restore", "f.txt", { version: 9 }, once), "VERSION_NOT_FOUND"],
    [own.put("copy", "f.txt", { destination: "f.txt" }, once), "VALIDATION_ERROR"],
    [own.post({ path: "/bad", content: "" }, once), "INVALID_PATH"],
    [own.post("{", once), "INVALID_JSON"],
  ];
  for (const [answer, code] of refusals) assertRefused(await answer, code);
  assertEquals((await own.put("append", "f.txt", { content: "+" }, once)).status, 200);
});

test("Idempotency-Key: an edit whose old string is gone after the first is still answered", async () => {
  const own = await files();
  await own.write("f.txt", "a a b");
  const once = { "idempotency-key": "e" };
  const edit = () => own.put("edit", "f.txt", { oldString: "a", newString: "c", replaceAll: true }, once);
  const first = await edit();
  assertReplayed(await edit(), first);
  assertEquals(withData.parse(first.body).data["replacements"], 2);
  assertEquals((await own.read("f.txt")).content, "c c b");
});

test("Idempotency-Key: a dry run neither takes nor answers a key", async () => {
  const own = await files();
  await own.write("f.txt", "old");
  const once = { "idempotency-key": "e" };
  const body = { oldString: "old", newString: "new" };
  const dry = await own.put("edit", "f.txt", { ...body, dryRun: true }, once);
  assertEquals([dry.status, dry.headers.get("idempotency-replayed")], [200, null]);
  const first = await own.put("edit", "f.txt", body, once);
  assertEquals((await own.record("f.txt")).version, 2);
  assertReplayed(await own.put("edit", "f.txt", body, once), first);
});

test("Idempotency-Key: what makes a request the same one is its meaning, not its bytes", async () => {
  const own = await files();
  await own.write("f.txt", "");
  const once = { "idempotency-key": "same" };
  const first = await own.put("append", "f.txt", '{"content":"é\\n"}', once);
  for (const body of ['{ "content" : "\\u00e9\\u000a" }', '{"unknown":1,"content":"é\\n","isBase64":null}']) {
    const answer = await own.put("append", "f.txt", body, once);
    // Null for an optional field means absent; to the letter it may count as another body, too.
    if (answer.status === 200) assertReplayed(answer, first);
    else assertRefused(answer, "IDEMPOTENCY_KEY_REUSED");
  }
  const escaped = await own.request("PUT", "/files/append/f%2Etxt", {
    body: { content: "é\n" },
    headers: once,
  });
  assertReplayed(escaped, first);
  assertEquals((await own.record("f.txt")).version, 2);
});

test("Idempotency-Key: 1 to 255 printable ASCII characters, each taken as it is", async () => {
  const own = await files();
  await own.write("f.txt", "");
  const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).join("");
  const keys = [
    "x",
    "a b",
    `"quoted"`,
    printable.trim(),
    "k".repeat(255),
    "K",
    "k",
    "'; drop table files; --",
  ];
  for (const [index, key] of keys.entries()) {
    const append = () => own.put("append", "f.txt", { content: "+" }, { "idempotency-key": key });
    assertEquals((await append()).headers.get("idempotency-replayed"), null, key);
    assertEquals((await append()).headers.get("idempotency-replayed"), "true", key);
    assertEquals((await own.record("f.txt")).version, index + 2);
  }
});

test("400 VALIDATION_ERROR: keys that are empty, too long or not printable ASCII; nothing changed", async () => {
  const own = await files();
  await prepare(own, "f.txt");
  const before = await service.tables();
  for (const key of ["", " ", "k".repeat(256), "ü", "tab\there", "k\x80"]) {
    for (const kind of WRITES) {
      const answer = await kind.send(own, "f.txt", { "idempotency-key": key });
      const details = assertRefused(answer, "VALIDATION_ERROR", kind.operation);
      assertEquals(issuePaths(details), ["Idempotency-Key"], `${kind.name} with ${JSON.stringify(key)}`);
    }
  }
  assertEquals(await service.tables(), before);
});

test("Idempotency-Key: a key is its project's own, whichever API key of the project comes with it", async () => {
  const [one, other] = [await files(), await files()];
  const once = { "idempotency-key": "shared" };
  const first = await one.post({ path: "f.txt", content: "one" }, once);
  const elsewhere = await other.post({ path: "f.txt", content: "other" }, once);
  assertEquals([elsewhere.status, elsewhere.headers.get("idempotency-replayed")], [200, null]);
  assertEquals((await other.read("f.txt")).content, "other");
  const { key } = await service.key(one.project.id);
  const body = { path: "f.txt", content: "one" };
  assertReplayed(await service.request(key, "POST", "/files", { body, headers: once }), first);
});

test("Idempotency-Key: a request without one is never a replay", async () => {
  const own = await files();
  const body = { path: "f.txt", content: "x" };
  await own.post(body, { "idempotency-key": "k" });
  const second = await own.post(body);
  assertEquals([second.status, second.headers.get("idempotency-replayed")], [200, null]);
  assertEquals((await own.record("f.txt")).version, 2);
  const read = await own.get("f.txt", { "idempotency-key": "k" });
  assertEquals([read.status, read.headers.get("idempotency-replayed")], [200, null]);
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
  test(`Idempotency-Key: after 24 hours ${kind.name} is a new request`, async () => {
    const own = await files();
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

test("Idempotency-Key: keys over 24 hours old are swept by whoever uses keys, a few at a time", async () => {
  const own = await files();
  const use = (key: string) => own.post({ path: "f.txt", content: key }, { "idempotency-key": key });
  for (let index = 0; index < 25; index++) await use(`old-${index}`);
  await service.sql(AGED, [own.project.id, "25 hours"]);
  await use("young");
  const left = async () =>
    (await service.sql<{ key: string }>(
      "select key from filestore.idempotency_keys where project_id = $1 order by key",
      [own.project.id],
    )).map(({ key }) => key);
  const counts = [(await left()).length];
  for (let index = 0; counts.at(-1) !== index + 1 && index < 10; index++) {
    await use(`new-${index}`);
    counts.push((await left()).length);
  }
  assert(counts[0] !== undefined && counts[0] < 26, "one use sweeps some");
  await eventually(
    "only young keys are left",
    async () => (await left()).every((key) => !key.startsWith("old")),
  );
  assert((await left()).includes("young"), "a young key stays");
});
