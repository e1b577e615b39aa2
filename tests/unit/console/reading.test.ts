/** The console's parsing of documents and data, without a browser. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { TREE_LEVELS_UNFOLDED } from "../../../supabase/console/src/limits.ts";
import { rootSpan, spansIn, textOf } from "../../../supabase/console/src/views/file/reading/json_spans.ts";
import { formOf } from "../../../supabase/console/src/views/file/reading/form.ts";
import { addressOf } from "../../../supabase/console/src/views/file/reading/markdown/address.ts";
import {
  type MarkdownNode,
  parseMarkdown,
} from "../../../supabase/console/src/views/file/reading/markdown/parse.ts";
import { readTable, type TableBatch } from "../../../supabase/console/src/views/file/reading/table/rows.ts";
import { Tree } from "../../../supabase/console/src/views/file/reading/tree/tree.ts";
import type { FilePlace } from "../../../supabase/console/src/state/router.ts";

const PLACE: FilePlace = { name: "file", projectId: "p", path: "docs/a b/guide.md", tab: "content" };

Deno.test("JSON: the parts of any text are those that JSON.parse finds, whatever its spacing", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t", " \r\n "), (value, space) => {
    const text = ` \n${JSON.stringify(value, null, space)}\r\n`;
    const { start, end } = rootSpan(text);
    assertEquals(read(text, start, end), JSON.parse(text));
  }));
});

Deno.test("JSON: keys keep their order and their doubles, numbers their digits", () => {
  const text = `{"2": 1.50, "1": 12345678901234567890, "2": -0, "a\\"}": "]"}`;
  const spans = spansIn(text, 0, Infinity);
  assertEquals(
    spans.map((span) => [textOf(text, span.keyStart, span.keyEnd), text.slice(span.start, span.end)]),
    [["2", "1.50"], ["1", "12345678901234567890"], ["2", "-0"], [`a"}`, `"]"`]],
  );
});

Deno.test("JSON: a hundred thousand arrays in each other unfold without a stack of calls", () => {
  const depth = 100_000;
  const tree = new Tree("[".repeat(depth) + "]".repeat(depth));
  tree.unfoldAll();
  assertEquals(tree.rows().length, TREE_LEVELS_UNFOLDED + 1);
  tree.foldAll();
  assertEquals(tree.rows().length, 1);
});

Deno.test("tables: whatever is written as CSV or JSONL is read again, in batches", () => {
  const cell = fc.string({ unit: "binary" }).filter((text) => text !== "");
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 20 }), (rows) => {
      const lines = rows.map((row) => row.map((text) => `"${text.replaceAll('"', '""')}"`).join(","));
      assertEquals(rowsOf(`"a","b"\n${lines.join("\n")}\n`, "csv"), rows);
      const objects = rows.map(([a, b]) => JSON.stringify({ a, b }));
      assertEquals(rowsOf(objects.join("\n"), "jsonl"), rows);
    }),
    { numRuns: 30 },
  );
  const many = Array.from({ length: 12_345 }, (_, index) => [String(index), "x"]);
  const read = rowsOf(`a,b\n${many.map((row) => row.join(",")).join("\n")}`, "csv");
  assertEquals(JSON.stringify(read), JSON.stringify(many));
});

Deno.test("addresses: relative to the file or the project, to the web, or nowhere", () => {
  const file = (path: string, more = {}) => ({ ...PLACE, path, version: undefined, ...more });
  const cases: readonly (readonly [string, unknown])[] = [
    ["b.md", file("docs/a b/b.md")],
    ["../c%20d.md?x=1#the-end", file("docs/c d.md", { heading: "the-end" })],
    ["/top.ts#L12", file("top.ts", { line: 12, lastLine: undefined })],
    ["/top.ts#L12C3", file("top.ts", { line: 12, lastLine: undefined })],
    ["/top.ts#L12-L14", file("top.ts", { line: 12, lastLine: 14 })],
    ["/top.ts#L14-12", file("top.ts", { line: 12, lastLine: 14 })],
    ["../../../../../up.md", file("up.md")],
    ["#a%20b", file(PLACE.path, { heading: "a b" })],
    ["#user-content-fn-1", file(PLACE.path, { heading: "fn-1" })],
    ["sub/", { name: "files", projectId: "p", directory: "docs/a b/sub" }],
    ["https://example.com/a?b#c", "https://example.com/a?b#c"],
    ["//example.com/a", "https://example.com/a"],
    ["mailto:a@example.com", "mailto:a@example.com"],
    ["data:image/png;base64,AAAA", "data:image/png;base64,AAAA"],
    ...[
      "javascript:alert(1)",
      " JaVaScRiPt:alert(1)",
      "java\tscript:alert(1)",
      ..."vbscript:x file:///etc/passwd blob:https://example.com/x data:text/html,x".split(" "),
      ..."data:image/svg+xml;base64,AAAA https:// %ff".split(" "),
    ].map((href) => [href, null] as const),
  ];
  for (const [href, expected] of cases) {
    const address = addressOf(href, PLACE);
    const found = address === null ? null : "place" in address ? address.place : address.href;
    assertEquals(found, expected, href);
  }
});

Deno.test("markdown: of any text, only the elements and attributes come out that are drawn", () => {
  const pieces = [
    ...["<script>", "[a](b)", "![a](javascript:x)", "<a onclick=x>", "# ", "- [x] ", "> ", "|a|b|\n|-|-|\n"],
    ...["[^1]", "\n[^1]: n\n", "```js\n", "**", "\n\n", "text"],
  ];
  const allowed = /^(align|alt|checked|href|id|language|src|start|title)$/;
  const tags =
    /^(a|blockquote|br|code|del|em|h[1-6]|hr|img|input|li|ol|p|pre|section|strong|sup|table|tbody|td|th|thead|tr|ul)$/;
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string()), { maxLength: 30 }), (parts) => {
      for (const { tag, attributes } of elementsOf(parseMarkdown(parts.join("")))) {
        const others = Object.keys(attributes).filter((name) => !allowed.test(name));
        assertEquals([tags.test(tag), others], [true, []], tag);
      }
    }),
  );
});

Deno.test("forms: by type, and by extension where the type says no more", () => {
  const cases = [
    ["a.md", "text/markdown", "markdown"],
    ["a.jsonl", "text/plain", "jsonl"],
    ["a.jsonl", "application/json", "jsonl"],
    ["a.tsv", "text/plain", "tsv"],
    ["a.jsonl", "text/csv", "csv"],
    ["a.json5", "text/plain", "source"],
    ["a.ipynb", "text/plain", "json"],
    ["a.constructor", "text/plain", "source"],
    ["a.ts", "text/typescript", "source"],
  ] as const;
  for (const [path, mimeType, form] of cases) assertEquals(formOf({ path, mimeType }), form, path);
});

/** Returns the value, read through its parts. */
function read(text: string, start: number, end: number): unknown {
  const first = text[start];
  if (first !== "{" && first !== "[") return JSON.parse(text.slice(start, end));
  const parts = spansIn(text, start, Infinity);
  if (first === "[") return parts.map((part) => read(text, part.start, part.end));
  const entries = parts.map((part) =>
    `${text.slice(part.keyStart, part.keyEnd)}:${JSON.stringify(read(text, part.start, part.end))}`
  );
  return JSON.parse(`{${entries.join(",")}}`);
}

function rowsOf(text: string, form: "csv" | "jsonl"): readonly (readonly string[])[] {
  const batches: TableBatch[] = [];
  readTable({ text, form }, (batch) => batches.push(batch));
  assertEquals(batches.filter(({ isLast }) => isLast).length, 1);
  return batches.flatMap(({ rows }) => rows);
}

function elementsOf(nodes: readonly MarkdownNode[]): readonly Exclude<MarkdownNode, string>[] {
  return nodes.flatMap((node) => typeof node === "string" ? [] : [node, ...elementsOf(node.children)]);
}
