/** What the documents repeat from the code is what the code has. */
import { assertEquals, assertThrows } from "@std/assert";
import { BLOCKS, regenerate, run } from "../../supabase/docs/generate.ts";
import { readDocuments } from "../support/documents.ts";

Deno.test("deno task docs --check: no generated part of any document is stale", async () => {
  assertEquals(await run(true), []);
});

Deno.test("every generated part is in exactly one document", async () => {
  const names = (await readDocuments()).flatMap(({ lines }) => regenerate(lines.join("\n")).names);
  assertEquals([...names].sort(), Object.keys(BLOCKS).sort());
});

const part = (text: string) => `a\n\n<!-- generated: x -->\n\n${text}\n\n<!-- end of generated -->\n\nb\n`;
const blocks = { x: () => "new" };

Deno.test("regenerate() replaces a stale part, names it, and leaves the rest", () => {
  assertEquals(regenerate(part("old"), blocks), { text: part("new"), names: ["x"], stale: ["x"] });
});

Deno.test("regenerate() names nothing that is up to date", () => {
  assertEquals(regenerate(part("new"), blocks), { text: part("new"), names: ["x"], stale: [] });
});

Deno.test("regenerate() throws where a part has an unknown name or no end", () => {
  assertThrows(() => regenerate(part("old"), {}), Error, "nothing generates 'x'");
  assertThrows(
    () => regenerate("<!-- generated: x -->\n\nold\n", blocks),
    Error,
    "no '<!-- end of generated -->'",
  );
});
