/**
 * The edge runtime, and any proxy, may compress an answer for a client that accepts compression. They pass on an answer
 * with an entity tag unchanged, and without one they do not change its content. Decision 0014.
 */
import { assert, assertEquals } from "@std/assert";
import type { Answer } from "../support/client/contract.ts";
import { ASKS_FOR_BYTES, type Files, type HeaderFields } from "../support/client/files.ts";
import { tagOf } from "../support/client/preconditions.ts";
import { settled } from "../support/client/search.ts";
import { prepare, WRITES } from "../support/client/write_kinds.ts";
import { area, files, readMethods } from "./suite.ts";

const { test, cases } = area("Compression");
export default cases;

/** Values of Accept-Encoding. A client that sends none gets the same as one that sends "identity". */
const ACCEPTED = ["identity", "gzip", "br", "gzip, br", "gzip, deflate, br, zstd", "*"];

const TEXT = "a line that compresses well\n";

/** Reads with an entity tag: query, headers, and whether the length is known before the body is sent. */
const TAGGED_READS: readonly (readonly [string, string, HeaderFields, boolean])[] = [
  ["short.txt", "", {}, true],
  ["long.txt", "", {}, false],
  ["short.txt", "?lines=2-4", {}, true],
  ["short.txt", "?metadata", {}, true],
  ["short.txt", "", ASKS_FOR_BYTES, true],
  ["long.txt", "", ASKS_FOR_BYTES, true],
  ["long.txt", "", { ...ASKS_FOR_BYTES, range: "bytes=100-70000" }, true],
];

async function twoTexts(): Promise<Files> {
  const own = await files();
  await own.write("short.txt", TEXT.repeat(100));
  await own.write("long.txt", TEXT.repeat(10_000));
  return own;
}

for (const [path, query, headers, hasLength] of TAGGED_READS) {
  const name = [path + query, ...Object.values(headers)].join(", ");
  test(`a read of ${name} is the same for a client that accepts compression: bytes, length and strong tag`, async () => {
    const own = await twoTexts();
    const shown: unknown[] = [];
    for (const accepted of ACCEPTED) {
      for (const method of readMethods()) {
        const answer = await own.request(method, `/files/${path}${query}`, {
          headers: { ...headers, "accept-encoding": accepted },
        });
        const fields = ["content-length", "content-range", "etag", "cache-control", "content-encoding"];
        shown.push([method, answer.status, answer.text, ...fields.map((name) => answer.headers.get(name))]);
        if (method === "HEAD") continue;
        const length = hasLength ? String(answer.bytes.length) : null;
        assertEquals(answer.headers.get("content-length"), length, accepted);
      }
    }
    const each = shown.slice(0, readMethods().length);
    assertEquals(shown, ACCEPTED.flatMap(() => each));
  });
}

test("If-Range, If-None-Match and If-Match take the tag that a client saw that accepts compression", async () => {
  const own = await twoTexts();
  const path = "/files/long.txt";
  const headers = { ...ASKS_FOR_BYTES, "accept-encoding": "gzip, br" };
  const tag = tagOf(await own.request("GET", path, { headers }));
  const part = await own.request("GET", path, {
    headers: { ...headers, range: "bytes=2-5", "if-range": tag },
  });
  assertEquals([part.status, part.text, tagOf(part)], [206, TEXT.slice(2, 6), tag]);
  const known = await own.request("GET", path, { headers: { ...headers, "if-none-match": tag } });
  assertEquals([known.status, tagOf(known)], [304, tag]);
  const written = await own.put("append", "long.txt", { content: "more" }, { ...headers, "if-match": tag });
  assertEquals([written.status, tagOf(written)], [200, tag.replace(".1.r", ".2.j")]);
});

for (const kind of WRITES) {
  test(`${kind.name} answers a strong tag to a client that accepts compression, and accepts it weakened`, async () => {
    const own = await files();
    await prepare(own, "f.txt");
    const seen = tagOf(await own.get("f.txt"));
    // A proxy may have weakened the tag.
    const answer = await kind.send(own, "f.txt", { "if-match": `W/${seen}` });
    assertEquals([answer.status, answer.headers.get("content-encoding")], [200, null], answer.text);
    // The check of every answer covers the form of its tag.
    if (kind.name !== "DELETE") tagOf(answer);
  });
}

/** Answers without an entity tag: lists, searches, comparisons, descriptions and refusals. */
const UNTAGGED: readonly (readonly [string, number])[] = [
  ["/files?recursive=true", 200],
  ["/files/short.txt?versions", 200],
  ["/search?q=compresses&mode=text", 200],
  ["/diff/short.txt", 200],
  ["/project", 200],
  ["/openapi.json", 200],
  ["/llms.txt", 200],
  ["/files/none.txt", 404],
  ["/files?limit=0", 400],
];

for (const [path, status] of UNTAGGED) {
  test(`${status} GET ${path} may come compressed where that is accepted, and says the same`, async () => {
    const own = await twoTexts();
    await own.append("short.txt", "a last line\n");
    if (path.startsWith("/search")) await settled(own);
    const answers = new Map<string, Answer>();
    for (const accepted of ["identity", "gzip", "br"]) {
      const answer = await own.request("GET", path, { headers: { "accept-encoding": accepted } });
      assertEquals(answer.status, status, answer.text);
      const encoding = answer.headers.get("content-encoding");
      assert(encoding === null || encoding === accepted, `${encoding}, where ${accepted} is accepted`);
      const varies = answer.headers.get("vary") ?? "";
      // Otherwise a cache would give it to clients that do not accept the encoding.
      assert(encoding === null || /\bAccept-Encoding\b/i.test(varies), `it varies by ${varies}`);
      answers.set(accepted, answer);
    }
    const plain = answers.get("identity");
    for (const answer of answers.values()) assertEquals(withoutTimes(answer), plain && withoutTimes(plain));
  });
}

/** The answer, without the parts that differ between requests. */
function withoutTimes({ text }: Answer): string {
  return text.replace(/"(requestsThisMinute|pending)":\d+/g, "");
}
