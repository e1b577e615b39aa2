/** If-Match and If-None-Match on writes: a client that loses a race gets a refusal, and its write has no effect. */
import { assertEquals } from "@std/assert";
import { assertRefused, issuePaths } from "../support/client/contract.ts";

import { assertDeleted, assertNotCreated, assertStale } from "../support/client/preconditions.ts";
import { prepare, PREPARED_VERSION, WRITES } from "../support/client/write_kinds.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Preconditions");
export default cases;

/** Conditions that hold for version 2 of the file with this id. */
const HOLDING: readonly ((id: string) => string)[] = [
  (id) => `"${id}.2.j"`,
  (id) => `"${id}.2.r"`,
  (id) => `"${id}.2.m"`,
  (id) => `W/"${id}.2.j"`,
  (id) => `"other", "${id}.1.j", W/"${id}.2.m"`,
  () => "*",
  () => " * ",
];

/** Conditions that do not hold for it. */
const STALE: readonly ((id: string) => string)[] = [
  (id) => `"${id}.1.j"`,
  (id) => `W/"${id}.1.r"`,
  (id) => `"${id}.3.j"`,
  (id) => `"${id}.22.j"`,
  (id) => `"${id}.2.x"`,
  (id) => `"${id}"`,
  () => `"${crypto.randomUUID()}.2.j"`,
  () => '"*"',
  () => '"*.j"',
  () => '""',
  (id) => `"${id}.1.j", "${id}.3.j", "other"`,
];

for (const kind of WRITES) {
  test(`200: ${kind.name} with an If-Match that holds, of any suffix, weakened, in a list, or *`, async () => {
    const own = await files();
    for (const [index, condition] of HOLDING.entries()) {
      const path = `f${index}.txt`;
      await prepare(own, path);
      const { id } = await own.record(path);
      const answer = await kind.send(own, path, { "if-match": condition(id) });
      assertEquals(answer.status, 200, `${condition("ID")}: ${answer.text}`);
    }
  });

  test(`412 PRECONDITION_FAILED: ${kind.name} with a stale If-Match; details.version is the current one, nothing changed`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const { id } = await own.record("f.txt");
    const before = await snapshot();
    for (const condition of STALE) {
      const answer = await kind.send(own, "f.txt", { "if-match": condition(id) });
      assertStale(answer, PREPARED_VERSION, kind.operation);
    }
    assertEquals(await snapshot(), before);
  });

  test(`400 VALIDATION_ERROR: ${kind.name} with an If-Match that is no list of tags; nothing changed`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const before = await snapshot();
    for (const condition of ["", "2", "unquoted", '"open', '"a" "b"', '*, "a"', "W/*", 'w/"a"', ",", "* *"]) {
      const answer = await kind.send(own, "f.txt", { "if-match": condition });
      const details = assertRefused(answer, "VALIDATION_ERROR", kind.operation);
      assertEquals(issuePaths(details), ["If-Match"], condition);
    }
    assertEquals(await snapshot(), before);
  });
}

/** Values of `ifVersion` that are refused while the file is at PREPARED_VERSION. */
const OTHER_VERSIONS = [PREPARED_VERSION - 1, PREPARED_VERSION + 1, 22, 2_147_483_647];

for (const kind of WRITES) {
  test(`200: ${kind.name} with the ifVersion that the file is at, also beside an If-Match that holds`, async () => {
    const own = await files();
    for (const [index, isBoth] of [false, true].entries()) {
      const path = `f${index}.txt`;
      await prepare(own, path);
      const headers: Record<string, string> = isBoth ? { "if-match": await own.tag(path) } : {};
      const answer = await kind.send(own, path, headers, "", PREPARED_VERSION);
      assertEquals(answer.status, 200, answer.text);
    }
  });

  test(`412: ${kind.name} with another ifVersion, or 0 where there is a file, or a stale If-Match; nothing changed`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const holding = { "if-match": await own.tag("f.txt") };
    const before = await snapshot();
    for (const ifVersion of OTHER_VERSIONS) {
      for (const headers of [{}, holding]) {
        assertStale(
          await kind.send(own, "f.txt", headers, "", ifVersion),
          PREPARED_VERSION,
          kind.operation,
        );
      }
    }
    assertStale(
      await kind.send(own, "f.txt", { "if-match": '"x"' }, "", PREPARED_VERSION),
      PREPARED_VERSION,
      kind.operation,
    );
    assertEquals(assertNotCreated(await kind.send(own, "f.txt", {}, "", 0)), { version: PREPARED_VERSION });
    assertEquals(await snapshot(), before);
  });

  test(`400 VALIDATION_ERROR: ${kind.name} with an ifVersion that is no version; nothing changed`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const before = await snapshot();
    for (const ifVersion of [-1, 1.5, 2_147_483_648, "two", ""]) {
      const answer = await kind.send(own, "f.txt", {}, "", ifVersion);
      const details = assertRefused(answer, "VALIDATION_ERROR", kind.operation);
      assertEquals(issuePaths(details), ["ifVersion"], String(ifVersion));
    }
    assertEquals(await snapshot(), before);
  });

  test(`${kind.name} with an ifVersion where there is no file, or only a tombstone`, async () => {
    const own = await files();
    await prepare(own, "deleted.txt");
    await own.remove("deleted.txt");
    const before = await snapshot();
    const revives = kind.name === "PUT restore";
    for (const ifVersion of [1, PREPARED_VERSION, PREPARED_VERSION + 1]) {
      const none = await kind.send(own, "none.txt", {}, "", ifVersion);
      const deleted = await kind.send(own, "deleted.txt", {}, "", ifVersion);
      if (kind.needsFile) assertRefused(none, "FILE_NOT_FOUND", kind.operation);
      else assertStale(none, null, kind.operation);
      if (kind.needsFile && !revives) assertDeleted(deleted, PREPARED_VERSION + 1, kind.operation);
      else assertStale(deleted, PREPARED_VERSION + 1, kind.operation);
    }
    assertEquals(await snapshot(), before);
    const [none, deleted] = [
      await kind.send(own, "none.txt", {}, "", 0),
      await kind.send(own, "deleted.txt", {}, "", 0),
    ];
    assertEquals(none.status, kind.needsFile ? 404 : 200, none.text);
    assertEquals(deleted.status, kind.needsFile && !revives ? 404 : 200, deleted.text);
  });
}

test("a dry run of an edit holds to ifVersion, too", async () => {
  const own = await files();
  await prepare(own, "f.txt");
  const edit = { oldString: "old", newString: "new", dryRun: true };
  assertStale(await own.put("edit", "f.txt", { ...edit, ifVersion: 1 }), PREPARED_VERSION);
  assertEquals((await own.put("edit", "f.txt", { ...edit, ifVersion: PREPARED_VERSION })).status, 200);
});

test("the source of a copy or move is what ifVersion is about, not what is at the destination", async () => {
  const own = await files();
  for (const route of ["copy", "move"]) {
    await prepare(own, `${route}.txt`);
    await own.write(`${route}.to`, "there");
    const body = { destination: `${route}.to`, ifVersion: PREPARED_VERSION };
    assertRefused(await own.put(route, `${route}.txt`, body), "FILE_ALREADY_EXISTS");
    assertEquals((await own.put(route, `${route}.txt`, { ...body, overwrite: true })).status, 200);
  }
});

const CREATES = WRITES.filter(({ needsFile }) => !needsFile);

for (const kind of CREATES) {
  test(`412 FILE_ALREADY_EXISTS: ${kind.name} with If-None-Match: * makes a file only where there is none`, async () => {
    const own = await files();
    const create = { "if-none-match": "*" };
    assertEquals((await kind.send(own, "f.txt", create)).status, 200);
    const before = await snapshot();
    assertEquals(assertNotCreated(await kind.send(own, "f.txt", create)), { version: 1 });
    assertEquals(await snapshot(), before);
    await own.remove("f.txt");
    assertEquals((await kind.send(own, "f.txt", create)).status, 200);
    assertEquals((await own.record("f.txt")).version, 3);
  });

  test(`${kind.name} with If-None-Match of tags writes only over other versions`, async () => {
    const own = await files();
    const { id } = await own.write("f.txt", "one");
    assertStale(await kind.send(own, "f.txt", { "if-none-match": `"x", W/"${id}.1.r"` }), 1, "write_file");
    for (const condition of ['"x"', `"${id}.2.j"`, '"*"']) {
      assertEquals((await kind.send(own, "f.txt", { "if-none-match": condition })).status, 200, condition);
      await own.remove("f.txt");
      await own.restore("f.txt", 1);
    }
    for (const condition of ["x", "", " "]) {
      const bad = await kind.send(own, "f.txt", { "if-none-match": condition });
      assertEquals(issuePaths(assertRefused(bad, "VALIDATION_ERROR", "write_file")), ["If-None-Match"]);
    }
  });

  test(`412 PRECONDITION_FAILED: ${kind.name} with If-Match where there is no file, and where it is deleted`, async () => {
    const own = await files();
    const { id } = await own.write("deleted.txt", "x");
    await own.remove("deleted.txt");
    const before = await snapshot();
    for (const condition of ["*", `"${id}.1.j"`, `"${id}.2.j"`]) {
      assertStale(await kind.send(own, "deleted.txt", { "if-match": condition }), 2, "write_file");
    }
    assertStale(await kind.send(own, "none.txt", { "if-match": "*" }), null, "write_file");
    assertEquals(await snapshot(), before);
  });
}

test("412 PRECONDITION_FAILED: a deleted file is restored only without If-Match", async () => {
  const own = await files();
  const { id } = await own.write("d.txt", "x");
  await own.remove("d.txt");
  for (const condition of ["*", `"${id}.2.j"`]) {
    assertStale(
      await own.put("restore", "d.txt", { version: 1 }, { "if-match": condition }),
      2,
      "restore_file",
    );
  }
  assertEquals((await own.restore("d.txt", 1)).version, 3);
});

test("If-None-Match on a write that cannot create says nothing", async () => {
  const own = await files();
  for (const kind of WRITES.filter(({ needsFile }) => needsFile)) {
    const path = `${crypto.randomUUID()}.txt`;
    await prepare(own, path);
    assertEquals((await kind.send(own, path, { "if-none-match": "*" })).status, 200, kind.name);
  }
});

export const WRITERS = 32;

test("32 racing writers with If-Match: exactly one is admitted for each version", async () => {
  const own = await files();
  await own.write("race.txt", "start\n");
  const admitted: number[] = [];
  for (let round = 1; round <= 8; round++) {
    const tag = { "if-match": await own.tag("race.txt") };
    const answers = await Promise.all(
      Array.from(
        { length: WRITERS },
        (_, writer) => own.put("append", "race.txt", { content: `${writer} in ${round}\n` }, tag),
      ),
    );
    const winners = answers.flatMap(({ status }, writer) => status === 200 ? [writer] : []);
    assertEquals(winners.length, 1, `round ${round}`);
    for (const answer of answers) if (answer.status !== 200) assertStale(answer, round + 1, "write_file");
    admitted.push(winners[0] ?? -1);
  }
  const { content, version } = await own.read("race.txt");
  assertEquals(version, 9);
  assertEquals(content, `start\n${admitted.map((writer, index) => `${writer} in ${index + 1}\n`).join("")}`);
});
