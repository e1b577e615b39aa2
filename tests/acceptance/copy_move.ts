/** A copy adds the current content under another path; a move also adds a tombstone, in the same commit. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import type { Files } from "../support/client/files.ts";
import { assertDeleted, tagOf } from "../support/client/preconditions.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Copy and move");
export default cases;

export const ROUTES = ["copy", "move"] as const;

/** Asserts that a copy leaves its source, and that a move leaves a tombstone there. */
async function assertSource(own: Files, route: typeof ROUTES[number], path: string, version: number) {
  if (route === "move") {
    assertDeleted(await own.get(path), version + 1);
    assertEquals((await own.versions(path)).versions[0]?.deleted, true);
  } else assertEquals((await own.record(path)).version, version);
}

for (const route of ROUTES) {
  test(`200: ${route} to a new path makes a file of its own with content and type`, async () => {
    const own = await files();
    await own.write("from.txt", "one");
    const source = await own.write("from.txt", "a,b\n", { contentType: "text/csv" });
    const answer = await own.put(route, "from.txt", { destination: "sub/dir/to.json" });
    assertEquals(answer.status, 200);
    const { content, ...record } = await own.read("sub/dir/to.json");
    assertEquals(content, "a,b\n");
    assertEquals([record.version, record.mimeType, record.size], [1, "text/csv", 4]);
    assertNotEquals(record.id, source.id);
    assertEquals(tagOf(answer), `"${record.id}.1.j"`);
    assertEquals((await own.versions("sub/dir/to.json")).total, 1);
    await assertSource(own, route, "from.txt", 2);
    assertEquals((await own.read("from.txt", { version: 1 })).content, "one");
  });

  test(`409 FILE_ALREADY_EXISTS: ${route} onto a file; with overwrite its next version`, async () => {
    const own = await files();
    await own.write("from.txt", "new");
    const target = await own.write("to.txt", "old", { contentType: "text/html" });
    const before = await snapshot();
    for (const overwrite of [undefined, false, null]) {
      const refused = await own.put(route, "from.txt", { destination: "to.txt", overwrite });
      assertEquals(assertRefused(refused, "FILE_ALREADY_EXISTS", `${route}_file`), { version: 1 });
    }
    // A condition that a file is absent belongs to POST; it does not change the status here.
    const conditional = await own.put(route, "from.txt", { destination: "to.txt" }, { "if-none-match": "*" });
    assertEquals(conditional.status, 409);
    assertEquals(await snapshot(), before);

    const record = await own[route]("from.txt", "to.txt", true);
    assertEquals([record.id, record.version, record.createdAt], [target.id, 2, target.createdAt]);
    assertEquals(record.mimeType, "text/plain");
    assertEquals((await own.read("to.txt")).content, "new");
    assertEquals((await own.read("to.txt", { version: 1 })).content, "old");
    await assertSource(own, route, "from.txt", 1);
  });

  test(`200: ${route} to a deleted path continues its numbers, without overwrite`, async () => {
    const own = await files();
    await own.write("from.txt", "new");
    const target = await own.write("to.txt", "old");
    await own.remove("to.txt");
    const record = await own[route]("from.txt", "to.txt");
    assertEquals([record.id, record.version, record.createdAt], [target.id, 3, target.createdAt]);
    assertEquals((await own.read("to.txt")).content, "new");
  });

  test(`400 VALIDATION_ERROR: ${route} to itself, however it is written; nothing changed`, async () => {
    const own = await files();
    await own.write("a/self ü.txt", "x");
    const before = await snapshot();
    for (const overwrite of [true, false]) {
      const refused = await own.put(route, "a/self ü.txt", { destination: "a/self ü.txt", overwrite });
      assertEquals(issuePaths(assertRefused(refused, "VALIDATION_ERROR", `${route}_file`)), ["destination"]);
    }
    const escaped = await own.request("PUT", `/files/${route}/a%2Fself%20%C3%BC.txt`, {
      body: { destination: "a/self ü.txt" },
    });
    assertRefused(escaped, "VALIDATION_ERROR");
    assertEquals(await snapshot(), before);
  });

  const BAD_PATHS: readonly (readonly [string, string])[] = [
    ["", "empty"],
    ["/to", "leading_slash"],
    ["to/", "trailing_slash"],
    ["a//b", "empty_segment"],
    ["../to", "dot_segment"],
    ["a\\b", "backslash"],
    ["a\nb", "control_character"],
    ["x".repeat(1025), "too_long"],
    ["\ud800", "not_well_formed"],
  ];
  test(`400 INVALID_PATH with details.rule: ${route} to a path that is none; nothing changed`, async () => {
    const own = await files();
    await own.write("from.txt", "x");
    const before = await snapshot();
    for (const [destination, rule] of BAD_PATHS) {
      const refused = await own.put(route, "from.txt", { destination });
      assertEquals(assertRefused(refused, "INVALID_PATH", `${route}_file`), { rule });
    }
    const source = await own.request("PUT", `/files/${route}/a%5Cb`, { body: { destination: "to" } });
    assertEquals(assertRefused(source, "INVALID_PATH"), { rule: "backslash" });
    assertEquals(await snapshot(), before);
  });

  test(`400 VALIDATION_ERROR: ${route} with fields of the wrong type; nothing changed`, async () => {
    const own = await files();
    await own.write("from.txt", "x");
    const before = await snapshot();
    const bodies: [Record<string, unknown>, string][] = [
      [{}, "destination"],
      [{ destination: null }, "destination"],
      [{ destination: 1 }, "destination"],
      [{ destination: ["to"] }, "destination"],
      [{ destination: "to", overwrite: "true" }, "overwrite"],
      [{ destination: "to", overwrite: 1 }, "overwrite"],
    ];
    for (const [body, field] of bodies) {
      const refused = await own.put(route, "from.txt", body);
      assertEquals(issuePaths(assertRefused(refused, "VALIDATION_ERROR", `${route}_file`)), [field]);
    }
    assertEquals(await snapshot(), before);
  });
}

test("200: a copy is independent: later changes of one are not seen in the other", async () => {
  const own = await files();
  await own.write("one", "shared");
  await own.copy("one", "two");
  await own.append("one", " and more");
  await own.edit("two", "shared", "changed");
  assertEquals((await own.read("one")).content, "shared and more");
  assertEquals((await own.read("two")).content, "changed");
  assertEquals((await own.read("two", { version: 1 })).content, "shared");
  await own.remove("one");
  assertEquals((await own.read("two")).content, "changed");
});

test("200: a move there and back keeps both histories", async () => {
  const own = await files();
  const here = await own.write("here", "x");
  const there = await own.move("here", "there");
  const back = await own.move("there", "here");
  assertEquals([back.id, back.version, back.createdAt], [here.id, 3, here.createdAt]);
  assertDeleted(await own.get("there"), 2);
  assertEquals((await own.restore("there", 1)).id, there.id);
});

test("moves at the same time: one source goes to one place, one place takes one file", async () => {
  const own = await files();
  await own.write("source", "x");
  const racing = await Promise.all(
    Array.from({ length: 8 }, (_, index) => own.put("move", "source", { destination: `place-${index}` })),
  );
  assertEquals(racing.map(({ status }) => status).sort(), [200, ...Array(7).fill(404)]);
  assertEquals((await own.list({ recursive: true })).total, 1);

  for (let index = 0; index < 8; index++) await own.write(`source-${index}`, `${index}`);
  const colliding = await Promise.all(
    Array.from({ length: 8 }, (_, index) => own.put("move", `source-${index}`, { destination: "place" })),
  );
  assertEquals(colliding.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)]);
  assertEquals((await own.versions("place")).total, 1);

  await own.write("left", "l");
  await own.write("right", "r");
  const { total } = await own.list({ recursive: true });
  const crossing = await Promise.all([
    own.put("move", "left", { destination: "right", overwrite: true }),
    own.put("move", "right", { destination: "left", overwrite: true }),
  ]);
  // They run one after another, and the second moves back the file that the first has moved.
  assertEquals(crossing.map(({ status }) => status), [200, 200]);
  assertEquals((await own.list({ recursive: true })).total, Number(total) - 1);
});
