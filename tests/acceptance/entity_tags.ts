/** Entity tags of reads and writes, and the 304 that saves the content. RFC 9110, sections 8.8.3 and 13.1.2. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import { tagOf } from "../support/client/preconditions.ts";

import { ASKS_FOR_BYTES, type Files } from "../support/client/files.ts";

import { prepare, WRITES } from "../support/client/write_kinds.ts";
import { area, files } from "./suite.ts";

const { test, testOfHead, cases } = area("Entity tags");
export default cases;

/** Maps each representation to the suffix of its tag, and to the query and headers of its read. */
export const REPRESENTATIONS = [
  ["j", "", {}],
  ["r", "", ASKS_FOR_BYTES],
  ["m", "?metadata", {}],
] as const;

export function read(own: Files, query: string, headers: Readonly<Record<string, string>>) {
  return own.request("GET", `/files/f.txt${query}`, { headers });
}

for (const [suffix, query, accept] of REPRESENTATIONS) {
  test(`ETag: "{id}.{version}.${suffix}", strong, one a version, with Vary: Accept`, async () => {
    const own = await files();
    const { id } = await own.write("f.txt", "one");
    const first = await read(own, query, accept);
    assertEquals([tagOf(first), variesByAccept(first)], [`"${id}.1.${suffix}"`, true]);
    assertEquals(tagOf(await read(own, query, accept)), tagOf(first));
    await own.write("f.txt", "one");
    assertEquals(tagOf(await read(own, query, accept)), `"${id}.2.${suffix}"`);
    const older = await read(own, `${query === "" ? "?" : `${query}&`}version=1`, accept);
    assertEquals(tagOf(older), tagOf(first));
  });

  test(`304 to the tag of .${suffix} in any form, without content; 200 to any other`, async () => {
    const own = await files();
    const { id } = await own.write("f.txt", "one");
    const tag = `"${id}.1.${suffix}"`;
    const known = [
      "*",
      tag,
      `W/${tag}`,
      `"other", ${tag}`,
      `${tag}, "other"`,
      `"a",W/"b" ,\t${tag}`,
      `, ${tag},,`,
    ];
    for (const condition of known) {
      const answer = await read(own, query, { ...accept, "if-none-match": condition });
      assertEquals([answer.status, answer.text], [304, ""], condition);
      assertEquals([tagOf(answer), variesByAccept(answer)], [tag, true]);
    }
    const others = REPRESENTATIONS.filter(([other]) => other !== suffix).map(([other]) =>
      `"${id}.1.${other}"`
    );
    const unknown = [...others, `"${id}.2.${suffix}"`, `"${id}.1"`, `"*"`, '""', `"${tag.slice(1, -2)}"`];
    for (const condition of unknown) {
      assertEquals(
        (await read(own, query, { ...accept, "if-none-match": condition })).status,
        200,
        condition,
      );
    }
  });

  test(`a write of any kind ends the 304 of .${suffix}`, async () => {
    for (const kind of WRITES) {
      const own = await files();
      await prepare(own, "f.txt");
      const condition = { ...accept, "if-none-match": tagOf(await read(own, query, accept)) };
      assertEquals((await read(own, query, condition)).status, 304);
      assertEquals((await kind.send(own, "f.txt")).status, 200, kind.name);
      const { status } = await read(own, query, condition);
      const isStill = kind.name === "PUT copy";
      const isGone = kind.name === "DELETE" || kind.name === "PUT move";
      assertEquals(status, isStill ? 304 : isGone ? 404 : 200, kind.name);
    }
  });
}

testOfHead("304 to HEAD, and the tag of a version of its own", async () => {
  const own = await files();
  await own.write("f.txt", "one");
  await own.write("f.txt", "two");
  for (const [, query, accept] of REPRESENTATIONS) {
    const path = `/files/f.txt${query === "" ? "?" : `${query}&`}version=1`;
    const tag = tagOf(await own.request("GET", path, { headers: accept }));
    const head = await own.request("HEAD", path, { headers: accept });
    assertEquals([head.status, tagOf(head), head.text], [200, tag, ""]);
    const known = await own.request("HEAD", path, { headers: { ...accept, "if-none-match": tag } });
    assertEquals(known.status, 304);
    const latest = await own.request("GET", `/files/f.txt${query}`, {
      headers: { ...accept, "if-none-match": tag },
    });
    assertEquals(latest.status, 200);
  }
});

test("a version list has no tag, and If-None-Match does not stop it", async () => {
  const own = await files();
  await own.write("f.txt", "one");
  const list = await own.request("GET", "/files/f.txt?versions", { headers: { "if-none-match": "*" } });
  assertEquals([list.status, list.headers.get("etag")], [200, null]);
});

test("404, not 304: a missing and a deleted file match nothing", async () => {
  const own = await files();
  await own.write("f.txt", "one");
  await own.remove("f.txt");
  for (const path of ["/files/f.txt", "/files/none"]) {
    assertRefused(await own.request("GET", path, { headers: { "if-none-match": "*" } }), "FILE_NOT_FOUND");
  }
});

for (const kind of WRITES) {
  test(`ETag: ${kind.name} answers the tag that the next precondition needs`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const answer = await kind.send(own, "f.txt");
    const tag = tagOf(answer);
    const path = { "PUT copy": "f.txt.copy", "PUT move": "f.txt.moved" }[kind.name] ?? "f.txt";
    const { versions } = await own.versions(path);
    const { id } = await own.record(path, { version: path === "f.txt" ? 1 : versions.length });
    assertEquals(tag, `"${id}.${versions[0]?.version}.j"`);
    if (kind.name === "DELETE") return;
    assertEquals(tag, await own.tag(path));
    assertEquals((await own.put("append", path, { content: "+" }, { "if-match": tag })).status, 200);
  });
}

test("ETag: the same content written twice has two tags, and two files never share one", async () => {
  const own = await files();
  await own.write("f.txt", "same");
  const first = await own.tag("f.txt");
  await own.write("f.txt", "same");
  assertNotEquals(await own.tag("f.txt"), first);
  await own.write("g.txt", "same");
  assertNotEquals(await own.tag("g.txt"), first);
});

test("400 VALIDATION_ERROR: an If-None-Match of a read that is no list of tags", async () => {
  const own = await files();
  await own.write("f.txt", "one");
  for (
    const condition of [
      "",
      "unquoted",
      '"open',
      '"a" "b"',
      '*, "a"',
      "W/*",
      'w/"a"',
      'W/ "a"',
      '"a";"b"',
      ",",
    ]
  ) {
    for (const [, query, accept] of REPRESENTATIONS) {
      const answer = await read(own, query, { ...accept, "if-none-match": condition });
      assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), ["If-None-Match"], condition);
    }
  }
});

/** The runtime may add other names to the list. */
function variesByAccept(answer: { readonly headers: Headers }): boolean {
  return (answer.headers.get("vary") ?? "").split(", ").includes("Accept");
}
