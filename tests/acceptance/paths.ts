/** Paths are compared byte for byte and percent-decoded once, with every name that a file system allows. */
import { assertEquals } from "@std/assert";
import { PATH_BYTES_MAX } from "./limits.ts";
import { assertRefused, dataOf, readRecord } from "../support/client/contract.ts";
import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Paths");
export default cases;

const NAMES = [
  "a",
  "deep/er/and/deeper/file.txt",
  "with space",
  " leading and trailing ",
  ..."per%cent 100% %2F a%2Fb %25 question?mark=1&b hash#tag plus+plus".split(" "),
  ..."semi;colon:comma,at@eq=dollar$ quote'double\"back`tick".split(" "),
  ..."[brackets]{braces}(parens)<angles> star*pipe|tilde~caret^ ... ..a/b.. .hidden/.file".split(" "),
  ..."-dash 日本語/ファイル.txt 😀/👩‍👩‍👧.png caf\u00e9 cafe\u0301 A/a a/A \u00a0 \ufeffbom".split(" "),
  "\u200bzero width",
  ..."مرحبا append/x overwrite/x edit/x append edit metadata versions files/files health".split(" "),
  ..."openapi.json null __proto__ constructor/prototype C:/windows/style".split(" "),
  "select * from files; --",
];

test("200: odd names are written, read, appended to, edited and listed, each as its own file", async () => {
  const own = await files();
  for (const path of NAMES) {
    assertEquals((await own.write(path, `of ${path}`, { contentType: "text/plain" })).path, path);
  }
  for (const path of NAMES) {
    const { content, path: shown } = await own.read(path);
    assertEquals([content, shown], [`of ${path}`, path]);
    await own.append(path, "+");
    await own.edit(path, "of ", "edited ");
    await own.overwrite(path, path);
    const record = await own.record(path);
    assertEquals([record.path, record.version], [path, 4]);
    const { file, total } = await own.versions(path);
    assertEquals([file.path, total], [path, 4]);
  }
  const listed = await own.paths({ recursive: true, limit: 100 });
  assertEquals(listed, [...NAMES].sort(byUtf8));
});

/** Raw paths in a URL, and the files that they name. */
const RAW: readonly (readonly [string, string])[] = [
  ["dir/file", "dir/file"],
  ["dir%2Ffile", "dir/file"],
  ["dir%2ffile", "dir/file"],
  ["%64%69%72/file", "dir/file"],
  ["a+b", "a+b"],
  ["a%2Bb", "a+b"],
  ["a%20b", "a b"],
  ["a%252Fb", "a%2Fb"],
  ["100%25", "100%"],
  ["caf%C3%A9", "caf\u00e9"],
  ["cafe%CC%81", "cafe\u0301"],
  ["x%3Fmetadata", "x?metadata"],
  ["x%23y", "x#y"],
  ["append/file", "append/file"],
  ["append%2Ffile", "append/file"],
  ["a;b=c,d:e@f!$&'()*", "a;b=c,d:e@f!$&'()*"],
  ["...", "..."],
  ["%2e%2e%2e", "..."],
];

for (const [raw, path] of RAW) {
  test(`200: GET /files/${raw} reads ${path}`, async () => {
    const own = await files();
    await own.write(path, "found");
    const answer = await own.request("GET", `/files/${raw}`);
    const record = dataOf(answer, "read_file", readRecord);
    assertEquals([record.path, record.content], [path, "found"]);
    assertEquals((await own.request("PUT", `/files/append/${raw}`, { body: { content: "!" } })).status, 200);
    assertEquals((await own.read(path)).content, "found!");
  });
}

test("200: names that differ in case or normalisation only are different files", async () => {
  const own = await files();
  const names = ["readme", "README", "Readme", "caf\u00e9", "cafe\u0301", "\u212b", "\u00c5", "A\u030a"];
  for (const [index, name] of names.entries()) await own.write(name, String(index));
  for (const [index, name] of names.entries()) assertEquals((await own.read(name)).content, String(index));
  assertEquals((await own.list()).total, names.length);
});

test("200: `a` and `a/b` may both be files", async () => {
  const own = await files();
  await own.write("a", "file");
  await own.write("a/b", "below");
  await own.write("a/b/c", "deeper");
  assertEquals((await own.read("a")).content, "file");
  assertEquals((await own.read("a/b")).content, "below");
  const root = await own.list();
  assertEquals([root.files.map(({ path }) => path), root.directories], [["a"], ["a"]]);
  const a = await own.list({ directory: "a" });
  assertEquals([a.files.map(({ path }) => path), a.directories], [["a/b"], ["b"]]);
});

test(`200: a path of exactly ${PATH_BYTES_MAX} bytes, in ASCII and in longer characters`, async () => {
  const own = await files();
  const left = own.pathBytesMax;
  const filled = (character: string) => {
    const count = Math.floor(left / new TextEncoder().encode(character).length);
    const path = character.repeat(count);
    return path + "x".repeat(left - new TextEncoder().encode(path).length);
  };
  for (const path of ["a", "é", "😀"].map(filled)) {
    assertEquals(new TextEncoder().encode(own.at(path)).length, PATH_BYTES_MAX);
    await own.write(path, "long");
    assertEquals((await own.read(path)).path, path);
    assertEquals((await own.record(path)).version, 1);
  }
});

/** Paths that no file can have, and the rule that each breaks. */
const REFUSED: readonly (readonly [string, string])[] = [
  ["", "empty"],
  ["/", "leading_slash"],
  ["a/", "trailing_slash"],
  ["a//b", "empty_segment"],
  [".", "dot_segment"],
  ["a\\b", "backslash"],
  ["a\u0000b", "control_character"],
  ["report\u202egpj.exe", "bidirectional_control"],
  ["a".repeat(1025), "too_long"],
  [`${"a/".repeat(32)}b`, "too_many_segments"],
];

for (const [path, rule] of REFUSED) {
  const shown = path.length > 20 ? `${[...path].length} × ${[...path][0]}` : JSON.stringify(path);
  test(`400 INVALID_PATH: ${shown} breaks ${rule}, in a body, a URL and a directory`, async () => {
    const own = await files();
    const before = await snapshot();
    const inBody = await own.request("POST", "/files", { body: { path, content: "x" } });
    assertEquals(assertRefused(inBody, "INVALID_PATH", "write_file"), { rule });
    const raw = encodeURIComponent(path);
    for (
      const [method, prefix] of [
        ["GET", "/files/"],
        ["PUT", "/files/append/"],
        ["PUT", "/files/overwrite/"],
        ["PUT", "/files/edit/"],
      ] as const
    ) {
      // Clients and gateways resolve dot segments before the request arrives.
      if (rule === "dot_segment") continue;
      const body = method === "PUT" ? { content: "x", oldString: "a", newString: "b" } : undefined;
      const answer = await own.request(method, prefix + raw, { body });
      assertEquals(assertRefused(answer, "INVALID_PATH"), { rule }, prefix);
    }
    // Outer slashes of a directory are allowed; the rest is checked like any path.
    if (!["empty", "leading_slash", "trailing_slash"].includes(rule)) {
      const answer = await own.request("GET", `/files?directory=${raw}`);
      assertEquals(assertRefused(answer, "INVALID_PATH", "list_files"), { rule });
    }
    assertEquals(await snapshot(), before);
  });
}

test("400 INVALID_PATH not_well_formed: a lone surrogate in a body's path", async () => {
  const own = await files();
  for (const path of ["\ud800", "a\udc00b", "\udc00\ud800", "x/\ud83d"]) {
    const answer = await own.request("POST", "/files", { body: { path, content: "x" } });
    assertEquals(assertRefused(answer, "INVALID_PATH", "write_file"), { rule: "not_well_formed" });
  }
  assertEquals((await own.list({ recursive: true })).total, 0);
});

function byUtf8(a: string, b: string): number {
  const [left, right] = [new TextEncoder().encode(a), new TextEncoder().encode(b)];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
