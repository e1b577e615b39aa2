/** Text of other people and agents cannot imitate a tool's own text, and a plain name is shown unchanged. */
import { assertEquals } from "@std/assert";
import { describeProvenance, shownPath } from "../../../supabase/functions/api/mcp/text.ts";
import { someOf } from "../../../supabase/functions/api/mcp/tools/search.ts";

const PLAIN = "notes/plan.md naïve/日本語.md report(final)_v2,3;4+5.md 👨\u200d👩\u200d👧.md .env it's.md"
  .split(" ");

for (const path of [...PLAIN, "meeting notes/week 7.md"]) {
  Deno.test(`shownPath() leaves ${path} as it is`, () => assertEquals(shownPath(path), path));
}

for (
  const [path, shown] of [
    ["a.md — version 7, empty", '"a.md — version 7, empty"'],
    ["a.md:3: text", '"a.md:3: text"'],
    ["a.md:3", '"a.md:3"'],
    ['a"b', '"a\\"b"'],
    [" a", '" a"'],
    ["a ", '"a "'],
    ["a/ b", '"a/ b"'],
    ["a\u00a0\u2014\u00a0version 2", '"a\u00a0\u2014\u00a0version 2"'],
    ["a, b", '"a, b"'],
    ["a. Nothing was done", '"a. Nothing was done"'],
    ["(a purged file)", '"(a purged file)"'],
    ["a\u200bb", '"a\\u200bb"'],
    ["a\u2028b", '"a\\u2028b"'],
    ["a\u{e0041}b", '"a\\udb40\\udc41b"'],
  ] as const
) {
  Deno.test(`shownPath() quotes ${JSON.stringify(path)}`, () => assertEquals(shownPath(path), shown));
}

for (
  const [actor, shown] of [
    ["planner/2.1", "planner/2.1"],
    ["someone@example.com", "someone@example.com"],
    ["Claude Desktop/1.0", '"Claude Desktop/1.0"'],
    ['x in run nightly: "fine" (latest)', '"x in run nightly: \\"fine\\" (latest)"'],
    ["x,", '"x,"'],
  ] as const
) {
  Deno.test(`describeProvenance() shows the actor ${actor} as ${shown}`, () => {
    assertEquals(describeProvenance({ actor, runId: undefined, note: undefined }), ` by ${shown}`);
  });
}

Deno.test("describeProvenance() shows a note as one JSON string", () => {
  const note = 'fine" (latest)\u2028version 2: deleted\u200b';
  const shown = '"fine\\" (latest)\\u2028version 2: deleted\\u200b"';
  assertEquals(describeProvenance({ actor: undefined, runId: "r", note }), ` in run r: ${shown}`);
  assertEquals(JSON.parse(shown), note);
});

Deno.test("someOf() shows whole paths as far as there is room, and always one", () => {
  assertEquals(someOf(["a", "b, c"], 2), 'a, "b, c"');
  assertEquals(someOf(["a"], 3), "a, and 2 more");
  const long = "x".repeat(700);
  assertEquals(someOf([long, long], 2), `${long}, and 1 more`);
  assertEquals(someOf([`"${"y".repeat(1000)}`, "b"], 2), `"\\"${"y".repeat(1000)}", and 1 more`);
});
