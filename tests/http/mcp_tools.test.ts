/** The tools of POST /mcp: the exact texts that a model reads, and the resulting files. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { owner } from "../support/client/accounts.ts";
import type { ProjectFiles } from "../support/client/files.ts";
import { Agent, type Era, ERAS } from "../support/client/mcp.ts";
import { eventually } from "../support/eventually.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

/** A project and an agent in it. The two eras alternate, so that each tool is tried in both. */
let turn = 0;
async function setUp(era: Era = ERAS[turn++ % 2] ?? "modern", given?: ProjectFiles) {
  const own = given ?? await files();
  const agent = new Agent(service, own.key, era);
  const tool = (name: string, usual: Args = {}) => ({
    says: async (args: Args, text: Expected) =>
      assertText(await agent.call(name, { ...usual, ...args }), text),
    refuses: async (args: Args, text: Expected) =>
      assertText(await agent.refused(name, { ...usual, ...args }), text),
  });
  return { own, agent, tool };
}

type Args = Readonly<Record<string, unknown>>;
type Expected = string | RegExp;

/** Asserts that this is the text, apart from its times, or that the pattern matches it. */
function assertText(text: string, expected: Expected): void {
  if (typeof expected === "string") assertEquals(timeless(text), expected);
  else assertMatch(text, expected);
}

/** The text, without the parts that differ between runs. */
function timeless(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME");
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join("");
const numbered = (from: number, to: number) =>
  lines(from, to).trimEnd().split("\n").map((line, index) => `${`${from + index}`.padStart(6)}\t${line}`)
    .join("\n");

/** The refusal of a change that was already applied. */
const made = (code: string, what: string) =>
  `${code}: ${what}. Nothing was done now. If you sent this call before, it worked, and there is nothing left to do; ` +
  "otherwise another agent did the same.";

test("read_file: first the version and which lines, then the lines with their numbers, then what is left", async () => {
  const { own, tool } = await setUp();
  await own.write("notes/plan.md", lines(1, 812));
  const readFile = tool("read_file", { path: "notes/plan.md" });
  const head = (from: number, to: number, version = 1) =>
    `notes/plan.md — version ${version}, lines ${from}–${to} of ${811 + version}\n`;
  const page = (from: number, to: number) => head(from, to) + numbered(from, to);
  await readFile.says({ limit: 40 }, `${page(1, 40)}\n772 more lines: offset 41`);
  const leading = { path: "/notes/plan.md", offset: 800, limit: 12 };
  await readFile.says(leading, `${page(800, 811)}\n1 more line: offset 812`);
  await readFile.says({ offset: 812 }, page(812, 812));
  await readFile.says({}, /\n312 more lines: offset 501$/);
  await readFile.refuses(
    { offset: 813 },
    "RANGE_NOT_SATISFIABLE: notes/plan.md — version 1 has 812 lines. Send an offset from 1 to 812.",
  );
  await own.append("notes/plan.md", "without a line break");
  await readFile.says(
    { offset: 812 },
    `${head(812, 813, 2)}${numbered(812, 812)}\n   813\twithout a line break`,
  );
  await readFile.says({ offset: 812, version: 1 }, page(812, 812));
  await own.write("empty.txt", "");
  await readFile.says({ path: "empty.txt" }, "empty.txt — version 1, empty");
  await own.write("blank.txt", "\n");
  await readFile.says({ path: "blank.txt" }, "blank.txt — version 1, lines 1–1 of 1\n     1\t");
});

test("read_file: at most 20,000 characters, with a limit 40,000, and a line over 2,000 is cut and says so", async () => {
  const { own, agent, tool } = await setUp();
  const wide = `${"x".repeat(1999)}\n`;
  await own.write("wide.txt", wide.repeat(100));
  const text = await agent.call("read_file", { path: "wide.txt", limit: 2000 });
  assert(text.length <= 40_000 && text.length > 37_000, `${text.length} characters`);
  const [, shown] = /lines 1–(\d+) of 100/.exec(text) ?? [];
  assertEquals(text.split("\n").at(-1), `${100 - Number(shown)} more lines: offset ${Number(shown) + 1}`);
  const byDefault = await agent.call("read_file", { path: "wide.txt" });
  assert(byDefault.length <= 20_000 && byDefault.length > 17_000, `${byDefault.length} characters`);
  assertMatch(byDefault, /\n\d+ more lines: offset \d+$/);
  // All of it can be read in parts.
  let offset = 1;
  let read = 0;
  while (offset <= 100) {
    const part = await agent.call("read_file", { path: "wide.txt", offset, limit: 2000 });
    const [, from, to] = /lines (\d+)–(\d+) of 100/.exec(part) ?? [];
    assertEquals(Number(from), offset);
    read += part.split("\n").filter((line) => line.endsWith("x".repeat(1999))).length;
    offset = Number(to) + 1;
  }
  assertEquals(read, 100);

  await own.write("long.txt", `${"y".repeat(2000)}\n${"😀".repeat(5000)}\nend\n`);
  const [, ...shownLines] = (await agent.call("read_file", { path: "long.txt" })).split("\n");
  assertEquals(shownLines, [
    `     1\t${"y".repeat(2000)}`,
    `     2\t${"😀".repeat(1000)}… [cut: 2,000 of 10,000 characters; grep_files finds the rest]`,
    "     3\tend",
  ]);

  // A line of 6 MiB is read only in part, and the text after it can still be reached.
  await own.write("huge.txt", `${"z".repeat(6 * 1024 * 1024)}\nafter\n`);
  const huge = tool("read_file", { path: "huge.txt" });
  await huge.says(
    {},
    /lines 1–1 of 2\n {5}1\tz+… \[cut: 2,000 of [\d,]+ characters; .*\]\n1 more line: offset 2$/,
  );
  await huge.says({ offset: 2 }, /\n {5}2\tafter$/);
});

test("read_file: images are shown if they are images, other binary content is described", async () => {
  const { own, agent, tool } = await setUp();
  const png = Uint8Array.fromBase64(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=",
  );
  const images: [string, string, Uint8Array][] = [
    ["a.png", "image/png", png],
    ["a.jpg", "image/jpeg", Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0)],
    ["a.gif", "image/gif", new TextEncoder().encode("GIF89a......")],
    ["a.webp", "image/webp", new TextEncoder().encode("RIFF....WEBPVP8 ")],
  ];
  for (const [path, mimeType, bytes] of images) {
    await own.writeBytes(path, bytes);
    const { content } = await agent.result("read_file", { path });
    assertEquals(content, [
      { type: "text", text: `${path} — version 1, ${mimeType}, ${bytes.length} bytes` },
      { type: "image", data: bytes.toBase64(), mimeType },
    ]);
  }
  // A provider refuses an invalid image, and with it the whole conversation.
  await own.writeBytes("fake.png", Uint8Array.of(0xff, 0, 1, 2));
  const fake = await agent.result("read_file", { path: "fake.png" });
  assertEquals(fake.content.length, 1);
  assertMatch(fake.content[0].text, /^fake.png — version 1, image\/png, 4 bytes, binary: it is not shown\. /);
  await own.write("text.png", "no image");
  const readFile = tool("read_file");
  await readFile.says({ path: "text.png" }, /\n {5}1\tno image$/);
  const large = new Uint8Array(1024 * 1024 + 1);
  large.set(png);
  await own.writeBytes("large.png", large);
  await readFile.says(
    { path: "large.png" },
    /1,048,577 bytes, binary: it is not shown\. create_link gives a curl/,
  );
  large[0] = 0xff;
  await own.writeBytes("a.zip", large);
  await readFile.says({ path: "a.zip" }, /^a.zip — version 1, application\/zip, /);
});

test("list_files: folders and files of a folder, all below, by glob, and page by page", async () => {
  const { own, tool } = await setUp();
  const listFiles = tool("list_files");
  await listFiles.says({}, "There are no files yet. write_file creates one.");
  for (const path of ["a.md", "b.txt", "src/x.ts", "src/deep/y.ts", "src/deep/z.md"]) {
    await own.write(path, "123");
  }
  /** The head of a page, and what it lists. */
  const page = (head: string, ...paths: readonly string[]) =>
    [head, ...paths.map((path) => path.endsWith("/") ? path : `${path} — version 1, 3 bytes, written TIME`)]
      .join("\n");
  const [y, z] = ["src/deep/y.ts", "src/deep/z.md"];
  const more = '\nmore files: after "b.txt"';
  await listFiles.says({}, page("All files — 2 files and 1 folder", "src/", "a.md", "b.txt"));
  await listFiles.says({ path: "/src/" }, page("src/ — 1 file and 1 folder", "src/deep/", "src/x.ts"));
  await listFiles.says({ recursive: true, limit: 2 }, page("All files — 5 files", "a.md", "b.txt") + more);
  const after = { recursive: true, limit: 3, after: "b.txt" };
  await listFiles.says(after, page("All files — 3 files", y, z, "src/x.ts"));
  await listFiles.says({ recursive: true, glob: "*.md" }, page("All files — 2 files", "a.md", z));
  await listFiles.says({ glob: "*.md" }, page("All files — 1 file", "a.md"));
  await listFiles.says({ path: "src", glob: "deep/*.{ts,js}" }, page("src/ — 1 file", y));
  await listFiles.says({ glob: "*.zip" }, /^No file in the project matches the glob/);
  await listFiles.says({ path: "a.md" }, /if a.md is a file, use read_file/);
  await listFiles.refuses({ glob: "[a" }, /^VALIDATION_ERROR: glob has a `\[` without `\]`/);
  await listFiles.refuses({ path: "../x" }, /^INVALID_PATH: /);
});

test("list_files: a page fits 40,000 characters, and says where to go on", async () => {
  const { own, agent } = await setUp();
  const deep = `${"d".repeat(200)}/`.repeat(4);
  await Promise.all(
    Array.from({ length: 60 }, (_, index) => own.write(`${deep}${`${index}`.padStart(3, "0")}.txt`, "")),
  );
  const text = await agent.call("list_files", { recursive: true });
  assert(text.length <= 40_000, `${text.length} characters`);
  const [, after = ""] = /\nmore files: after "(.*)"$/.exec(text) ?? [];
  const rest = await agent.call("list_files", { recursive: true, after });
  const listed = [text, rest].flatMap((page) => page.match(/\d{3}\.txt —/g) ?? []);
  assertEquals(new Set(listed).size, 60);
  assertEquals(listed.length, 60);
});

test("grep_files: path:line: text, of a folder or one file, and what is left out", async () => {
  const { own, agent, tool } = await setUp();
  await own.write("a.txt", "one\nTwo needles\nthree\n");
  await own.write("src/b.ts", lines(1, 30));
  await own.write("src/c.ts", "needle(1)\n");
  await indexed(agent);
  const grepFiles = tool("grep_files");
  const rows: readonly (readonly [Args, Expected])[] = [
    [{ pattern: "needle" }, "a.txt:2: Two needles\nsrc/c.ts:1: needle(1)"],
    [{ pattern: "needle", path: "src" }, "src/c.ts:1: needle(1)"],
    [{ pattern: "needle", path: "a.txt" }, "a.txt:2: Two needles"],
    [{ pattern: "needle", glob: "*.ts" }, "src/c.ts:1: needle(1)"],
    [{ pattern: "two", ignore_case: true }, "a.txt:2: Two needles"],
    [{ pattern: "two" }, "No line matches."],
    [{ pattern: "needle\\([0-9]\\)", regex: true }, "src/c.ts:1: needle(1)"],
    [{ pattern: "needle(" }, "src/c.ts:1: needle(1)"],
    [{ pattern: "line" }, /\nsrc\/b.ts: 10 more matching lines: narrow the pattern, or read it$/],
  ];
  for (const [args, text] of rows) await grepFiles.says(args, text);
  const first = "src/b.ts:1: line 1\nsrc/b.ts:2: line 2\nMore lines match: raise limit, or narrow it with ";
  await grepFiles.says({ pattern: "line", limit: 2 }, `${first}path, glob or a longer pattern.`);
  await grepFiles.refuses({ pattern: "(", regex: true }, /^VALIDATION_ERROR: /);
  await grepFiles.refuses({ pattern: "a\nb" }, /^VALIDATION_ERROR: pattern must be a single line/);
});

test("search_files: the files that are about something, with their lines", async () => {
  const { own, agent, tool } = await setUp();
  await own.write("notes/plan.md", "# Plan\nShip the harbour survey on Friday.\n");
  await own.write("notes/other.md", "Nothing here.\n");
  await indexed(agent);
  const searchFiles = tool("search_files");
  await searchFiles.says(
    { query: "harbour survey" },
    "notes/plan.md — version 1\n  2: Ship the harbour survey on Friday.",
  );
  await searchFiles.says({ query: "zebra", path: "notes" }, /^No file was found\. Try other/);
});

test("search_files: waits for what is not indexed yet, searches once more, and says first what it did not search", async () => {
  const { own, tool } = await setUp("modern");
  const held = Promise.withResolvers<void>();
  service.proxy.backgroundHook = (_call, forward) => held.promise.then(forward);
  try {
    await own.write("new.md", "zebra\n");
    service.proxy.reset();
    await tool("search_files").says(
      { query: "zebra" },
      /^NOT SEARCHED: 1 file \(changed just now: .*\): new\.md\nNo file was found\./,
    );
    const calls = service.proxy.calls.map(({ path }) => path.replace(/^.*\//, ""));
    assertEquals(calls.filter((name) => name === "filestore_search").length, 2);
    assert(calls.includes("filestore_search_indexed"), calls.join());
  } finally {
    held.resolve();
    service.proxy.backgroundHook = null;
  }
});

test("grep_files and search_files say in words what they did not look at, and what to do", async () => {
  const { own, agent, tool } = await setUp("modern");
  const large = (bytes: number) => "a line of text\n".repeat(Math.ceil(bytes / 15)).slice(0, bytes);
  await own.write("large.txt", large(2 * 1024 * 1024));
  await own.write("huge.txt", large(10 * 1024 * 1024));
  await own.append("huge.txt", "!");
  await indexed(agent);
  const grepFiles = tool("grep_files", { pattern: "zebra" });
  await grepFiles.says(
    {},
    "No line of the searched files matches.\nNOT SEARCHED: 1 file (too large for this search: grep_files reads up to " +
      "10 MB, read_file any size): huge.txt",
  );
  await tool("search_files").says(
    { query: "zebra" },
    /^NOT SEARCHED: 2 files \(too large .*\): huge\.txt, large\.txt\nNo file was found\..*$/,
  );
  await grepFiles.says({ path: "large.txt" }, "No line matches.");
});

test("write_file: creates; an existing file needs the version that was read, and the answer to a repeat is that it worked", async () => {
  const { own, tool } = await setUp();
  const write = { path: "/notes/plan.md", content: "one\ntwo\n" };
  const writeFile = tool("write_file", write);
  await writeFile.says(
    {},
    "Created notes/plan.md: version 1, 2 lines, 8 bytes. To replace it, send expected_version=1.",
  );
  const again = "Your content is already version 1 of notes/plan.md";
  for (const more of [{}, { expected_version: 0 }]) {
    await writeFile.refuses(more, made("FILE_ALREADY_EXISTS", again));
  }
  await writeFile.refuses({ expected_version: 7 }, made("PRECONDITION_FAILED", again));
  for (const more of [{}, { expected_version: 0 }]) {
    await writeFile.refuses(
      { path: "notes/plan.md", content: "other", ...more },
      "FILE_ALREADY_EXISTS: notes/plan.md exists already: version 1, 8 bytes, written TIME. Nothing was written. To " +
        "change a part of it, use edit_file. To replace all of it, read it first, then send expected_version=1.",
    );
  }
  await writeFile.says(
    { content: "one\n2\n", expected_version: 1 },
    "Wrote notes/plan.md: version 2, 2 lines, 6 bytes. To replace it, send expected_version=2.",
  );
  await writeFile.refuses(
    { content: "mine\n", expected_version: 1 },
    "PRECONDITION_FAILED: notes/plan.md is at version 2, not 1. Nothing was done. Since version 1: 1 line added, 1 " +
      "removed.\n--- notes/plan.md\n+++ notes/plan.md\n@@ -1,2 +1,2 @@\n one\n-two\n+2\nWork these changes into your " +
      "content. Then send expected_version=2.",
  );
  assertEquals((await own.record("notes/plan.md")).version, 2);
  // The answer to the write of version 2 was lost, and another client has written since.
  await own.overwrite("notes/plan.md", "three\n");
  await writeFile.refuses(
    { content: "one\n2\n", expected_version: 1 },
    /Your content was already written, as version 2: write again only if it must replace what others wrote after you/,
  );
  await writeFile.refuses(
    { content: "x", expected_version: 9 },
    /is at version 3, not 9\. Nothing was done\. There is no version 9 yet\./,
  );
  await own.remove("notes/plan.md");
  await writeFile.refuses(
    { expected_version: 3 },
    /^PRECONDITION_FAILED: There is no file at notes\/plan.md, but you expected version 3\. Nothing was done\./,
  );
  await writeFile.says({}, /^Wrote notes\/plan.md: version 5, /);
  assertEquals((await own.record("notes/plan.md")).mimeType, "text/markdown");
});

test("write_file: the diff of a miss has 50 lines at most, and says how to see the rest", async () => {
  const { own, agent, tool } = await setUp();
  await own.write("a.txt", lines(1, 500));
  await own.overwrite("a.txt", lines(501, 1000));
  const text = await agent.refused("write_file", { path: "a.txt", content: "x", expected_version: 1 });
  const [, ...shown] = text.split("\n");
  assertEquals(shown.length, 52);
  assertEquals(shown[50], "… 953 more lines: diff_versions shows them");
  await own.writeBytes("a.txt", Uint8Array.of(0xff));
  await tool("write_file").refuses(
    { path: "a.txt", content: "x", expected_version: 2 },
    /is at version 3, not 2\. Nothing was done\. It is binary\./,
  );
});

test("edit_file: shows the lines around, the near misses, and that an edit is there already", async () => {
  const { own, tool } = await setUp();
  await own.write("a.txt", lines(1, 20));
  const edit = { path: "a.txt", old_string: "line 10\n", new_string: "line ten\nand more\n" };
  const editFile = tool("edit_file", edit);
  await editFile.says(
    {},
    "Edited a.txt: version 2, 1 replacement; around line 10 it now is\n     7\tline 7\n     8\tline 8\n     9\tline 9\n" +
      "    10\tline ten\n    11\tand more\n    12\tline 11\n    13\tline 12\n    14\tline 13",
  );
  await editFile.refuses({}, made("STRING_NOT_FOUND", "Your edit is already version 2 of a.txt"));
  await editFile.refuses(
    { expected_version: 1 },
    made("PRECONDITION_FAILED", "Your edit is already version 2 of a.txt"),
  );
  await editFile.refuses(
    { path: "a.txt", old_string: "Line  ten", new_string: "x" },
    "STRING_NOT_FOUND: The old string does not occur in the file. The latest is version 2. Copy old_string from these " +
      "most similar lines, without the numbers, or read the file around them:\n    10\tline ten\n     1\tline 1\n" +
      "     2\tline 2",
  );
  await editFile.refuses(
    { path: "a.txt", old_string: "LINE TEN", new_string: "x" },
    /It differs from the file only by upper and lower case\./,
  );
  await editFile.refuses(
    { path: "a.txt", old_string: "line 2", new_string: "x" },
    /^STRING_NOT_UNIQUE: .*In version 2 it occurs 2 times, in lines 2, 21\. Add surrounding lines/,
  );
  await editFile.says({
    path: "a.txt",
    old_string: "line 1",
    new_string: "row 1",
    replace_all: true,
  }, /^Edited a.txt: version 3, 10 replacements; around line 1 it now is\n {5}1\trow 1\n/);
  await editFile.refuses(
    { old_string: "line 9", expected_version: 2 },
    /^PRECONDITION_FAILED: a.txt is at version 3, not 2\. .*\n.*[^]*Edit it as it is now\. Then send expected_version=3\.$/,
  );
  await editFile.refuses(
    { path: "a.txt", old_string: "x", new_string: "x" },
    "VALIDATION_ERROR: new_string must differ from old_string.",
  );
  await editFile.refuses({ path: "none" }, /^FILE_NOT_FOUND/);
  await own.writeBytes("b.bin", Uint8Array.of(0xff));
  await editFile.refuses({ path: "b.bin" }, /^NOT_TEXT/);
  assertEquals((await own.versions("a.txt")).total, 3);
});

test("edit_file: an edit that only adds to what it names is not made twice, unless it is meant", async () => {
  const { own, tool } = await setUp();
  await own.write("a.txt", "# Tasks\n- one\n");
  const edit = { path: "a.txt", old_string: "# Tasks\n", new_string: "# Tasks\n- zero\n" };
  const editFile = tool("edit_file", edit);
  await editFile.says({}, /version 2/);
  // The answer was lost, and another client has written since.
  await own.append("a.txt", "- two\n");
  await editFile.refuses(
    {},
    "PRECONDITION_FAILED: new_string is in a.txt already: version 3, line 1. Nothing was done now. If you sent this call " +
      "before, it worked, and there is nothing left to do. To apply the edit once more, send expected_version=3.",
  );
  await editFile.says({ expected_version: 3 }, /version 4/);
  assertEquals((await own.read("a.txt")).content, "# Tasks\n- zero\n- zero\n- one\n- two\n");
  // A deletion leaves no new text to find; the version before shows that it was applied.
  const removal = { path: "a.txt", old_string: "- one\n", new_string: "" };
  await editFile.says(removal, /version 5/);
  await editFile.refuses(removal, made("STRING_NOT_FOUND", "Your edit is already version 5 of a.txt"));
});

test("append_file: creates, adds, and says if the content is the end already", async () => {
  const { own, tool } = await setUp();
  const append = { path: "log.md", content: "- one\n" };
  const appendFile = tool("append_file", append);
  await appendFile.says({}, "Created log.md: version 1, 6 bytes.");
  await appendFile.says({}, "Appended to log.md: version 2, 12 bytes.");
  for (const [expected_version, code] of [[0, "FILE_ALREADY_EXISTS"], [1, "PRECONDITION_FAILED"]] as const) {
    await appendFile.refuses(
      { expected_version },
      made(code, "Your content is already the end of version 2 of log.md"),
    );
  }
  await appendFile.says(
    { content: "- two\n", expected_version: 2 },
    "Appended to log.md: version 3, 18 bytes.",
  );
  await own.append("log.md", "- others\n");
  await appendFile.refuses(
    { content: "- two\n", expected_version: 2 },
    /is at version 4, not 2\. .*[^]*already added, in version 3: add it again only if it was removed\. Then send/,
  );
  await appendFile.refuses(
    { content: "- three\n", expected_version: 2 },
    /is at version 4, not 2\. .*[^]*The file does not end with your content\./,
  );
  await appendFile.refuses({ expected_version: 0, content: "x" }, /^FILE_ALREADY_EXISTS/);
  await own.remove("log.md");
  await appendFile.says({}, "Appended to log.md: version 6, 6 bytes.");
  assertEquals((await own.read("log.md")).content, "- one\n");
});

test("delete_file, move_file, restore_file: done once, and a repeat says so", async () => {
  const { own, tool } = await setUp();
  await own.write("a.txt", "one\n");
  await own.overwrite("a.txt", "two\n");
  const deleteFile = tool("delete_file", { path: "a.txt" });
  await deleteFile.refuses(
    { expected_version: 1 },
    /^PRECONDITION_FAILED: a.txt is at version 2, not 1\. .*[^]*Delete it if that is still right\. Then send expected_version=2\.$/,
  );
  await deleteFile.says(
    { expected_version: 2 },
    "Deleted a.txt; version 3 records the deletion. restore_file with version=2 restores it.",
  );
  for (const more of [{}, { expected_version: 2 }]) {
    await deleteFile.refuses(
      more,
      made("FILE_NOT_FOUND", "a.txt is already deleted: version 3 records the deletion"),
    );
  }
  const restoreFile = tool("restore_file", { path: "a.txt" });
  await restoreFile.says({ version: 1 }, "Restored a.txt: version 4 has the content of version 1, 4 bytes.");
  await restoreFile.says(
    { version: 1 },
    "a.txt has the content of version 1 already, as version 4. Nothing was done.",
  );
  await restoreFile.refuses({ version: 3 }, /^VERSION_DELETED: /);
  await restoreFile.refuses(
    { version: 9 },
    /^VERSION_NOT_FOUND: .* The latest is 4\. file_history lists the versions\.$/,
  );
  const moveFile = tool("move_file", { path: "a.txt" });
  await moveFile.says({ destination: "/b/c.txt" }, "Moved a.txt to b/c.txt: version 1 there.");
  await moveFile.refuses(
    { destination: "b/c.txt" },
    made("FILE_NOT_FOUND", "a.txt was moved already: its content is version 1 of b/c.txt"),
  );
  await own.write("d.txt", "other");
  await moveFile.refuses(
    { path: "d.txt", destination: "b/c.txt" },
    /^FILE_ALREADY_EXISTS: .* Choose another destination, or send overwrite=true to replace that file\.$/,
  );
  await moveFile.says(
    { path: "d.txt", destination: "b/c.txt", overwrite: true },
    "Moved d.txt to b/c.txt: version 2 there.",
  );
  await moveFile.refuses({ destination: "b/c.txt" }, /^FILE_NOT_FOUND/);
  await moveFile.refuses(
    { path: "b/c.txt", destination: "b/c.txt" },
    "VALIDATION_ERROR: destination must differ from path.",
  );
});

test("create_link: a curl command that downloads, or uploads once, for less than 300 tokens of tool traffic", async () => {
  const { own, agent, tool } = await setUp();
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  const upload = await agent.call("create_link", { path: "data/a.bin", for: "upload", expires_in: 60 });
  assertMatch(
    upload,
    /^Uploads one new version of data\/a.bin, once, until .*Z\. Run:\ncurl -fsS -T 'a.bin' 'http.*'$/,
  );
  const addressOf = (text: string) => /'(http[^']+)'$/.exec(text)?.[1] ?? "";
  const put = () => fetch(addressOf(upload), { method: "PUT", body: bytes });
  const first = await put();
  const second = await put();
  assertEquals([first.status, second.status], [200, 410]);
  await Promise.all([first, second].map((response) => response.body?.cancel()));
  assertEquals(await own.readBytes("data/a.bin"), bytes);
  const download = await agent.call("create_link", { path: "data/a.bin" });
  assertMatch(download, /^Downloads data\/a.bin, until .*Z\. Run:\ncurl -fsS -o 'a.bin' 'http.*'$/);
  assertEquals(new Uint8Array(await (await fetch(addressOf(download))).arrayBuffer()), bytes);
  // A token is about four characters.
  assert(upload.length + download.length < 4 * 300, `${upload.length + download.length} characters`);
  const createLink = tool("create_link", { path: "a" });
  await createLink.refuses({ path: "none" }, /^FILE_NOT_FOUND/);
  await createLink.refuses(
    { for: "upload", expires_in: 3601 },
    "VALIDATION_ERROR: expires_in must be at most 3600 for an upload.",
  );
  await createLink.refuses({ for: "read" }, "VALIDATION_ERROR: for must be download or upload.");
});

test("file_history and diff_versions", async () => {
  const { own, agent, tool } = await setUp();
  await own.write("a.txt", "one\n");
  await own.append("a.txt", "two\n");
  const diffVersions = tool("diff_versions", { path: "a.txt" });
  await diffVersions.says(
    {},
    "a.txt: version 1 to 2: 1 line added, 0 removed\n--- a.txt\n+++ a.txt\n@@ -1,1 +1,2 @@\n one\n+two",
  );
  await diffVersions.says({ from: 2, to: 2 }, "a.txt: version 2 to 2: the content is the same.");
  await own.remove("a.txt");
  const fileHistory = tool("file_history", { path: "a.txt" });
  await fileHistory.says(
    {},
    "a.txt — 3 versions\nversion 3: deleted, TIME (latest)\nversion 2: 8 bytes, TIME, append\n" +
      "version 1: 4 bytes, TIME, write",
  );
  await fileHistory.says(
    { limit: 1 },
    "a.txt — 3 versions\nversion 3: deleted, TIME (latest)\n2 older versions: raise limit (up to 100)",
  );
  await fileHistory.refuses({ path: "none" }, /^FILE_NOT_FOUND: .*write_file creates one\.$/);
  await own.write("long.txt", "");
  await own.overwrite("long.txt", "w".repeat(1000).concat("\n").repeat(100));
  const text = await agent.call("diff_versions", { path: "long.txt" });
  assert(text.length <= 40_000, `${text.length} characters`);
  assertMatch(text, /\n… \d+ more lines: read_file with version=2 shows all of it$/);
});

test("arguments: one that is nearly one of ours is refused, and nothing is done", async () => {
  const { own, tool } = await setUp();
  await own.write("a.txt", "kept");
  const write = { path: "a.txt", content: "lost" };
  for (const name of ["expectedVersion", "expected_versoin", "if_version"]) {
    await tool("write_file").refuses(
      { ...write, [name]: 7 },
      `VALIDATION_ERROR: ${name} is not an argument; did you mean expected_version?`,
    );
  }
  const readFile = tool("read_file");
  await readFile.refuses(
    { file_path: "a.txt" },
    "VALIDATION_ERROR: file_path is not an argument; did you mean path?",
  );
  assertEquals((await own.read("a.txt")).content, "kept");
  await readFile.says({ path: "a.txt", file: "b.txt" }, /kept/);
});

test("arguments: refused in words, read leniently, and what is not ours is ignored", async () => {
  const { own, agent, tool } = await setUp();
  await own.write("a.txt", lines(1, 3));
  const readFile = tool("read_file");
  const faults: readonly (readonly [Args, string])[] = [
    [{ path: "a.txt", limit: 2001 }, "limit must be at most 2000."],
    [{ path: "a.txt", offset: 0 }, "offset must be at least 1."],
    [{ path: "a.txt", offset: 1.5 }, "offset must be a whole number."],
    [{ path: "a.txt", offset: "one" }, "offset must be a whole number."],
    [{ path: "a.txt", version: [1] }, "version must be a whole number."],
    [{}, "path is required."],
    [{ path: null }, "path is required."],
    [{ path: 7 }, "path must be text."],
    [{ path: "" }, "path must not be empty."],
  ];
  for (const [args, fault] of faults) await readFile.refuses(args, `VALIDATION_ERROR: ${fault}`);
  await readFile.refuses(
    { path: "//a.txt" },
    /^INVALID_PATH: The path begins with a slash\. Write paths like notes/,
  );
  await readFile.refuses({ path: "a\\b.txt" }, /^INVALID_PATH: The path contains a backslash/);
  await readFile.refuses({ path: "a/../b" }, /^INVALID_PATH: /);
  const listFiles = tool("list_files");
  await listFiles.refuses({ recursive: "perhaps" }, "VALIDATION_ERROR: recursive must be true or false.");
  await tool("write_file").refuses(
    { path: "b.txt", content: "\ud800" },
    "VALIDATION_ERROR: content contains a lone surrogate, which cannot be stored as UTF-8.",
  );
  const tolerated = { path: "a.txt", offset: "2", limit: "1", version: null, sessionId: "of a client" };
  await readFile.says(
    tolerated,
    `a.txt — version 1, lines 2–2 of 3\n${numbered(2, 2)}\n1 more line: offset 3`,
  );
  await listFiles.says({ recursive: "true", glob: "", after: "" }, /^All files — 1 file\n/);
  assertEquals(await agent.rpc("tools/call", { name: "list_files" }).then(({ status }) => status), 200);
});

test("refusals of size and quota say what to do", async () => {
  const { own, agent, tool } = await setUp("modern", await files("free", { maxFileBytes: 1000 }));
  const writeFile = tool("write_file");
  await writeFile.refuses(
    { path: "a.txt", content: "x".repeat(1001) },
    /^CONTENT_TOO_LARGE: .* The limit is 1000 bytes\. Split the content into several files\.$/,
  );
  await agent.call("write_file", { path: "a.txt", content: "x".repeat(900) });
  await tool("append_file").refuses({ path: "a.txt", content: "x".repeat(200) }, /^CONTENT_TOO_LARGE: /);
  await service.sql("update filestore.projects set max_project_bytes = 1 where id = $1", [own.project.id]);
  await writeFile.refuses(
    { path: "b.txt", content: "x" },
    /^QUOTA_EXCEEDED: .*Tell the person who gave you the key: they can raise the quota\.$/,
  );
});

test("the owner of a project, signed in, may call it as a key may", async () => {
  const account = await owner(service);
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const answer = await account.request("POST", "/mcp", { body });
  assertEquals(Object(answer.body).result.tools.length, 17);
});

test("file_history and refused writes name the writer, if it was recorded", async () => {
  const { own, agent, tool } = await setUp("modern");
  const said = { "x-run-id": "nightly-42", "x-actor": "planner/2.1" };
  await own.post({ path: "a.txt", content: "one\n" }, { ...said, "x-change-note": "because%20of%20%22x%22" });
  assertEquals(
    timeless(await agent.refused("write_file", { path: "a.txt", content: "two\n" })).split(" Nothing")[0],
    "FILE_ALREADY_EXISTS: a.txt exists already: version 1, 4 bytes, written TIME by planner/2.1 in run nightly-42: " +
      '"because of \\"x\\"".',
  );
  await agent.call("edit_file", { path: "a.txt", old_string: "one", new_string: "1" });
  await tool("write_file").refuses(
    { path: "a.txt", content: "two\n", expected_version: 1 },
    /^PRECONDITION_FAILED: a.txt is at version 2, not 1: written by test\/1\.0\.0\. Nothing was done\. /,
  );
  await own.put("restore", "a.txt", { version: 1 }, { "x-run-id": "back" });
  await own.copy("a.txt", "b.txt");
  const fileHistory = tool("file_history");
  await fileHistory.says(
    { path: "a.txt" },
    "a.txt — 3 versions\nversion 3: 4 bytes, TIME, restore from version 1 in run back (latest)\n" +
      "version 2: 2 bytes, TIME, edit by test/1.0.0\n" +
      'version 1: 4 bytes, TIME, write by planner/2.1 in run nightly-42: "because of \\"x\\""',
  );
  await fileHistory.says(
    { path: "b.txt" },
    "b.txt — 1 version\nversion 1: 4 bytes, TIME, copy from a.txt version 3 (latest)",
  );
});

test("recent_changes: the last ones, those since, those below a folder, and what one run did", async () => {
  const { own, agent, tool } = await setUp("legacy");
  const recent = (args: Args = {}) => agent.call("recent_changes", args);
  const nothing = await recent();
  assertMatch(nothing, /^Nothing was changed\.\nlater changes: since=[0-9a-f]{32}$/);
  const cursorOf = (text: string) => /since=([0-9a-f]{32})$/.exec(text)?.[1] ?? "none";
  const since = cursorOf(nothing);
  assertEquals(await recent({ since }), nothing.replace("was changed", "has changed since"));
  const headers = { "x-run-id": "nightly-42", "x-actor": "planner/2.1" };
  await own.post({ path: "notes/a.md", content: "one" }, headers);
  await own.put("append", "notes/a.md", { content: "two" }, headers);
  await own.move("notes/a.md", "b.md");
  const shows = async (args: Args, ...lines: readonly string[]) =>
    assertEquals(timeless(await recent(args)).replaceAll(/[0-9a-f]{32}/g, "CURSOR"), lines.join("\n"));
  const byRun = "by planner/2.1 in run nightly-42";
  const wrote = `TIME write notes/a.md — version 1 ${byRun}`;
  const written = [wrote, `TIME append notes/a.md — version 2 ${byRun}`];
  const left = "TIME move notes/a.md — deleted, version 3";
  const came = "TIME move b.md — version 1 from notes/a.md version 2";
  const [last, more] = ["later changes: since=CURSOR", "more changes: since=CURSOR"];
  await shows({}, "4 changes, oldest first.", ...written, left, came, last);
  await shows({ limit: 2 }, "The last 2 changes, oldest first.", left, came, last);
  await shows({ since, limit: 3 }, "3 changes since, in their order", ...written, left, more);
  const three = cursorOf(await recent({ since, limit: 3 }));
  await shows({ since: three }, "1 change since, in their order", came, last);
  const looked = "At most the last 10,000 changes were examined.";
  for (const path of ["notes", "/notes/", "notes/a.md"]) {
    await shows({ path }, `3 changes, oldest first. ${looked}`, ...written, left, last);
  }
  await shows({ path: "none" }, `Nothing was changed. ${looked}`, last);
  const summary = "run nightly-42 — 1 file, 2 versions by planner/2.1, TIME to TIME";
  await shows({ run: "nightly-42" }, summary, "notes/a.md — versions 1–2, last append");
  await shows({ run: "nightly-42", since, limit: 1 }, "1 change since, in their order", wrote, more);
  const recentChanges = tool("recent_changes");
  await recentChanges.refuses({ run: "other" }, /^RUN_NOT_FOUND: .* shows the latest runs\.$/);
  await recentChanges.refuses({ run: "a b" }, /^VALIDATION_ERROR: run must be 1 to 128 /);
  await recentChanges.refuses({ since: "x" }, /^VALIDATION_ERROR: since must be the 32 /);
  await recentChanges.refuses({ since: "0".repeat(32) }, /^VALIDATION_ERROR: /);
});

test("recent_changes: at most 40,000 characters, and what comes next is not lost", async () => {
  const { own, agent } = await setUp("legacy");
  const note = encodeURIComponent("n".repeat(500));
  for (let n = 0; n < 90; n++) {
    await own.put("append", "log.txt", { content: "x" }, { "x-change-note": note })
      .then(({ status }) => status === 404 ? own.write("log.txt", "x") : undefined);
  }
  const start = /since=([0-9a-f]{32})$/.exec(await agent.call("recent_changes", { limit: 100 }))?.[1];
  assert(start);
  const found: number[] = [];
  let text = "";
  for (let since = (await own.versions("log.txt", { limit: 100 })).versions.at(-1)?.cursor ?? "";;) {
    text = await agent.call("recent_changes", { since, limit: 100 });
    assert(text.length <= 40_000, `${text.length} characters`);
    found.push(...[...text.matchAll(/— version (\d+)/g)].map(([, version]) => Number(version)));
    since = /since=([0-9a-f]{32})$/.exec(text)?.[1] ?? "";
    if (text.includes("later changes")) break;
  }
  assertEquals(found, Array.from({ length: 89 }, (_, index) => index + 2));
});

/** Waits until all files are indexed. */
async function indexed(agent: Agent): Promise<void> {
  await eventually(
    "all is indexed",
    async () => !(await agent.call("search_files", { query: "nothing has this" })).includes("changed"),
  );
}

test("delete_file: a folder is deleted with recursive=true alone, and one commit", async () => {
  const { own, tool } = await setUp();
  for (const path of ["notes/a.md", "notes/deep/b.md", "other.md"]) await own.write(path, "x");
  const deleteFile = tool("delete_file", { path: "notes" });
  await deleteFile.refuses(
    {},
    "FILE_NOT_FOUND: notes is a folder of 2 files. Send recursive=true to delete all of them.",
  );
  await deleteFile.refuses(
    { recursive: true, expected_version: 1 },
    /^VALIDATION_ERROR: expected_version applies to one file/,
  );
  await deleteFile.says(
    { recursive: true },
    "Deleted the 2 files of notes. Each line shows the version that records the deletion. " +
      "To restore a file, call restore_file with the version before it.\n" +
      "notes/a.md — version 2\nnotes/deep/b.md — version 2",
  );
  assertEquals(await own.paths({ recursive: true }), ["other.md"]);
  // A file can be deleted like this, too, and a deleted file is reported as such.
  await deleteFile.says({ path: "other.md", recursive: true }, /^Deleted other\.md; version 2/);
  await deleteFile.refuses({ recursive: true }, /^FILE_NOT_FOUND: /);
});

test("undo_run: a plan first, then done once; what others changed since is named", async () => {
  const { own, agent, tool } = await setUp();
  await own.write("kept.md", "before");
  const headers = { "x-run-id": "nightly-42", "x-actor": "planner/2.1" };
  await own.put("overwrite", "kept.md", { content: "by the run" }, headers);
  await own.post({ path: "made.md", content: "by the run" }, headers);
  const lines = "kept.md — restored to version 1, from version 2\nmade.md — deleted: the run created it";
  assertEquals(
    (await agent.call("undo_run", { run: "nightly-42" })).split("\n").toSorted(),
    ["Undoing run nightly-42 would change 2 files:", ...lines.split("\n"), "To do it: dry_run=false"]
      .toSorted(),
  );
  assertEquals((await own.read("kept.md")).content, "by the run");
  await own.write("meant.md", "x");
  await own.put("append", "meant.md", { content: "y" }, { "x-run-id": "met", "x-actor": "planner/2.1" });
  await own.put("append", "meant.md", { content: "!" }, { "x-run-id": "other", "x-actor": "someone" });
  const undoRun = tool("undo_run");
  await undoRun.refuses(
    { run: "met", dry_run: false },
    "RUN_CONFLICT: Others have changed files of the run since. Nothing was done. Compare them with diff_versions, and " +
      "restore files one by one with restore_file:\nmeant.md — version 3 by someone in run other came after",
  );
  const done = await agent.call("undo_run", { run: "nightly-42", dry_run: false });
  assertMatch(done, /^Undid run nightly-42, as run [0-9a-f-]{36}:\n/);
  assertEquals([(await own.read("kept.md")).content, (await own.get("made.md")).status], ["before", 404]);
  await undoRun.says(
    { run: "nightly-42", dry_run: false },
    "Nothing is left to undo: 2 files of run nightly-42 are already as before the run.",
  );
  const redo = /undo_run with run=([0-9a-f-]{36})$/.exec(done)?.[1] ?? "";
  await agent.call("undo_run", { run: redo, dry_run: false });
  assertEquals((await own.read("made.md")).content, "by the run");
  await undoRun.refuses({ run: "no-such-run" }, /^RUN_NOT_FOUND: /);
});
