/** Entries of an archive have different names, which every system allows. */
import { assertEquals } from "@std/assert";
import { archiveNames } from "../../../supabase/functions/api/files/disk_name.ts";

for (
  const [paths, names] of [
    [["notes/plan.md", "Über uns.md", ".env", "a", "a/b"], [
      "notes/plan.md",
      "Über uns.md",
      ".env",
      "a",
      "a/b",
    ]],
    [["C:/x", "c:x", "C:"], ["C%3A/x", "c%3Ax", "C%3A"]],
    [["a/con", "CON.txt", "com¹", "lpt9.a.b", "icon"], [
      ..."a/_con _CON.txt _com¹ _lpt9.a.b icon".split(" "),
    ]],
    [["a./b ", "...", "a.b/c d"], ["a%2E/b%20", "..%2E", "a.b/c d"]],
    [["<>|?*", 'q"'], ["%3C%3E%7C%3F%2A", "q%22"]],
    [["a:", "a%3A"], ["a%3A~1", "a%3A"]],
    [["a:b:c", "a%3Ab:c", "a:b%3Ac", "a%3Ab%3Ac~2"], [
      "a%3Ab%3Ac",
      "a%3Ab%3Ac~1",
      "a%3Ab%3Ac~3",
      "a%3Ab%3Ac~2",
    ]],
  ] as const
) {
  Deno.test(`archiveNames() gives ${JSON.stringify(paths)} the names ${JSON.stringify(names)}`, () =>
    assertEquals(archiveNames(paths), [...names]));
}
