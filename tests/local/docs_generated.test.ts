/** Parts of the documents that are generated from the code are up to date. */
import { assertEquals, assertThrows } from "@std/assert";
import { BLOCKS, regenerate, run } from "../../supabase/docs/generate.ts";
import { ERRORS } from "../../supabase/functions/api/errors.ts";
import * as limits from "../../supabase/functions/api/limits.ts";
import { readDocuments } from "../support/content/documents.ts";

Deno.test("deno task docs --check: no generated part of any document is stale", async () => {
  assertEquals(await run(true), []);
});

Deno.test("every generated part is in exactly one document", async () => {
  const names = (await readDocuments()).flatMap(({ lines }) => regenerate(lines.join("\n")).names);
  assertEquals([...names].sort(), Object.keys(BLOCKS).sort());
});

Deno.test("every error code and every limit that a document names exists", async () => {
  const variables =
    /^(BASE_URL|API_KEY|FILESTORE_URL|FILESTORE_KEY|KEY_ID|DATABASE_URL|CHROMIUM|TEST_\w+|SUPABASE_\w+|EMBEDDINGS_\w+|MAIL_\w+|MCP_ALLOWED_ORIGINS|CONSOLE_URL|OAUTH_ISSUER|OUTBOUND_ALLOWED_HOSTS)$/;
  const unknown: string[] = [];
  for (const { path, lines } of await readDocuments()) {
    for (const [index, line] of lines.entries()) {
      for (const [, name = ""] of line.matchAll(/`([A-Z]+(?:_[A-Z0-9]+)+)`/g)) {
        if (!(name in ERRORS || OF_THE_CLIENT.includes(name) || name in limits || variables.test(name))) {
          unknown.push(`${path}:${index + 1}: ${name}`);
        }
      }
    }
  }
  assertEquals(unknown, []);
});

/** Codes of failures without an answer of the service. */
const OF_THE_CLIENT = ["NETWORK_ERROR", "UNKNOWN_ANSWER"];

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
