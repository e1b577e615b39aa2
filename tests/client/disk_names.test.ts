/** Every path gets its own place on disk, also on systems that ignore case, and the same place after an interruption. */
import { assert, assertEquals } from "@std/assert";
import { DISK_NAME_BYTES_MAX, DISK_PATH_BYTES_MAX } from "../../supabase/client/limits.ts";
import { DiskNames } from "../../supabase/client/transfer/disk_names.ts";

for (
  const [path, before, place] of [
    ["notes/plan.md", [], "notes/plan.md"],
    ["readme.md", ["README.md"], "readme.md~"],
    ["u\u0308.txt", ["\u00fc.txt"], "u\u0308.txt~"],
    ["docs/b", ["Docs/a"], "docs/b"],
    ["a/b", ["a"], "a~/b"],
    ["A/b/c", ["a", "a~"], "A~~/b/c"],
    ["a", ["a/b"], "a~"],
    ["con/nul.txt", [], "_con/_nul.txt"],
    ["a:b/c?.txt", [], "a%3Ab/c%3F.txt"],
    ["ends./here ", [], "ends%2E/here%20"],
    ["...", [], "..%2E"],
  ] as const
) {
  Deno.test(`DiskNames gives ${JSON.stringify(path)} after ${JSON.stringify(before)} the place ${place}`, () => {
    const names = new DiskNames();
    for (const name of before) names.place(name);
    assertEquals(names.place(path), place);
    const again = new DiskNames();
    for (const name of before) again.take(name);
    assertEquals(again.place(path), place, "after a break");
  });
}

Deno.test("DiskNames cuts names and whole paths that are too long, and keeps them apart", () => {
  const names = new DiskNames();
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  const long = ["é".repeat(300), `${"é".repeat(300)}x`].map((path) => names.place(path));
  const deep = [1, 2].map((last) => names.place(`${"d".repeat(150)}/`.repeat(6) + last));
  assertEquals(new Set([...long, ...deep]).size, 4);
  for (const name of long) assert(bytes(name) <= DISK_NAME_BYTES_MAX, name);
  for (const name of deep) assert(bytes(name) <= DISK_PATH_BYTES_MAX, name);
});
