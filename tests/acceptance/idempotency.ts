/** Idempotency-Key: a repeated request gets the same answer, and adds no second version. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { type Answer, assertRefused, issuePaths } from "../support/client/contract.ts";

import { tagOf } from "../support/client/preconditions.ts";
import { prepare, WRITES } from "../support/client/write_kinds.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Safe retries");
export default cases;

export const withData = z.looseObject({ data: z.record(z.string(), z.unknown()), operation: z.string() });

/** Asserts that `again` repeats the answer `first` and is marked as a replay. */
export function assertReplayed(again: Answer, first: Answer): void {
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
    const after = await snapshot();
    for (let times = 0; times < 3; times++) assertReplayed(await kind.send(own, "f.txt", once), first);
    assertEquals(await snapshot(), after);
  });

  test(`422 IDEMPOTENCY_KEY_REUSED: ${kind.name} with the key of another body, path or route; nothing changed`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    await prepare(own, "g.txt");
    const once = { "idempotency-key": "k" };
    assertEquals((await kind.send(own, "f.txt", once)).status, 200);
    const before = await snapshot();
    const answers = [await kind.send(own, "g.txt", once)];
    if (kind.name !== "DELETE") answers.push(await kind.send(own, "f.txt", once, "!"));
    for (const answer of answers) {
      assertEquals(assertRefused(answer, "IDEMPOTENCY_KEY_REUSED", kind.operation), {});
    }
    for (const other of WRITES.filter(({ name }) => name !== kind.name)) {
      const answer = await other.send(own, "f.txt", once);
      assertEquals(assertRefused(answer, "IDEMPOTENCY_KEY_REUSED", other.operation), {}, other.name);
    }
    assertEquals(await snapshot(), before);
  });
}

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
  for (const body of ['{ "content" : "\\u00e9\\u000a" }', '{"isBase64":null,"content":"é\\n"}']) {
    const answer = await own.put("append", "f.txt", body, once);
    // Null for an optional field means absent, but the body may also count as a different one.
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
    // The folder does not lengthen this key; it is random, since another run may have used a fixed one today.
    crypto.randomUUID().padEnd(255, "k"),
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
  const before = await snapshot();
  for (const key of ["", " ", "k".repeat(256), "ü", "tab\there", "k\x80"]) {
    for (const kind of WRITES) {
      const answer = await kind.send(own, "f.txt", { "idempotency-key": key });
      const details = assertRefused(answer, "VALIDATION_ERROR", kind.operation);
      assertEquals(issuePaths(details), ["Idempotency-Key"], `${kind.name} with ${JSON.stringify(key)}`);
    }
  }
  assertEquals(await snapshot(), before);
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
