/** `lines=` reads some lines of a text, and fetches only the segments that contain them. */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { type Answer, assertRefused, dataOf, issuePaths, readRecord } from "../support/client/contract.ts";

import type { Files } from "../support/client/files.ts";

import { area, files, snapshot } from "./suite.ts";

const { test, cases } = area("Lines of a text");
export default cases;

export const windowRecord = readRecord.extend({
  startLine: z.int().min(1),
  endLine: z.int().min(1),
  totalLines: z.int().min(1),
});

export const windowOf = (answer: Answer) => dataOf(answer, "read_file", windowRecord);

/** The lines of a text, each with its line feed. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

export async function assertWindow(
  own: Files,
  path: string,
  lines: readonly string[],
  from: number,
  to: number,
) {
  const { content, startLine, endLine, totalLines } = windowOf(
    await own.get(path, {}, { lines: `${from}-${to}` }),
  );
  assertEquals([startLine, endLine, totalLines], [from, Math.min(to, lines.length), lines.length]);
  assert(content === lines.slice(from - 1, to).join(""), `lines ${from}-${to} differ`);
}

test("400 VALIDATION_ERROR for lines that are none", async () => {
  const own = await files();
  await own.write("t.txt", "1\n2\n");
  const before = await snapshot();
  const bad = [
    "",
    ..."1 - 0-1 0- -0 2-1 a-b 1-b 1-2-3 1..2 +1-2 1.5-2".split(" "),
    " 1-2",
    "--1",
  ];
  for (const lines of [...bad, "1-2,4-5", "0x1-2", "11111111111-", "-11111111111", "١-٢"]) {
    const answer = await own.get("t.txt", {}, { lines });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR", "read_file")), ["lines"], lines);
  }
  const twice = await own.request("GET", "/files/t.txt?lines=1-1&lines=1-1");
  assertEquals(issuePaths(assertRefused(twice, "VALIDATION_ERROR")), ["lines"]);
  assertEquals(await snapshot(), before);
});

test("422 NOT_TEXT for bytes that are no UTF-8, in any part of the file", async () => {
  const own = await files();
  await own.writeBytes("b.txt", Uint8Array.of(0x61, 0x0a, 0xff, 0x0a));
  await own.write("late.txt", "text\n");
  await own.put("append", "late.txt", Uint8Array.of(0xff), { "content-type": "application/octet-stream" });
  for (const [path, version] of [["b.txt", 1], ["late.txt", 2]] as const) {
    for (const query of [{ lines: "1-1" }, { lines: "-1" }, { lines: "1-1", encoding: "base64" }]) {
      const details = assertRefused(await own.get(path, {}, query), "NOT_TEXT", "read_file");
      assertEquals(details, { version });
    }
  }
});

test("lines go with version and encoding, win over Accept, and mean nothing to records and version lists", async () => {
  const own = await files();
  await own.write("t.txt", "é\nold\n");
  await own.write("t.txt", "new\n");
  assertEquals(windowOf(await own.get("t.txt", {}, { version: 1, lines: "2-2" })).content, "old\n");
  const encoded = windowOf(await own.get("t.txt", {}, { version: 1, lines: "1-1", encoding: "base64" }));
  assertEquals([encoded.content, encoded.isBase64], [btoa("\u00c3\u00a9\n"), true]);
  const accept = await own.get("t.txt", { accept: "application/octet-stream" }, { lines: "1-1" });
  assertEquals(windowOf(accept).content, "new\n");
  const tag = accept.headers.get("etag") ?? "";
  assertEquals([tag, (await own.get("t.txt", { "if-none-match": tag }, { lines: "1-1" })).status], [
    await own.tag("t.txt"),
    304,
  ]);
  assertEquals((await own.request("GET", "/files/t.txt?metadata&lines=9-9")).status, 200);
  assertEquals((await own.request("GET", "/files/t.txt?versions&lines=9-9")).status, 200);
});

test("windows stay exact through appends, compactions, edits, restores and copies", async () => {
  const own = await files();
  let text = "start";
  await own.write("log", text);
  const check = async (path: string) => {
    const lines = linesOf(text);
    const middle = Math.ceil(lines.length / 2);
    for (const [from, to] of [[1, 1], [1, 3], [middle, middle + 2], [lines.length, lines.length]] as const) {
      await assertWindow(own, path, lines, from, to);
    }
    assertEquals(windowOf(await own.get(path, {}, { lines: "-3" })).content, lines.slice(-3).join(""));
  };
  // Parts of lines, single lines and several lines, with and without line feeds at either end.
  const pieces = ["\n", "a", "b\nc", "\n\n", "long ".repeat(50), "\nd\n", "é", "\r\n", "x\ny\nz"];
  for (let index = 0; index < 60; index++) {
    const piece = pieces[(index * 5) % pieces.length] ?? "";
    await own.append("log", piece);
    text += piece;
    if (index % 6 === 5) await check("log");
  }
  await own.edit("log", "\n\n", "\n- edited\n-\n", { replaceAll: true });
  text = text.replaceAll("\n\n", "\n- edited\n-\n");
  await check("log");
  await own.copy("log", "copy");
  await own.overwrite("log", "gone");
  await own.restore("log", (await own.record("log")).version - 1);
  await check("log");
  await check("copy");
});
