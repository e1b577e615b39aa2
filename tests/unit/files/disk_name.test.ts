/** Entries of an archive have different names, which every system allows. */
import { assertEquals } from "@std/assert";
import { archiveNames } from "../../../supabase/functions/api/files/disk_name.ts";

/** Each path and its name, for the paths of an archive. */
const ARCHIVES: readonly Readonly<Record<string, string>>[] = [
  { "notes/plan.md": "notes/plan.md", "Über uns.md": "Über uns.md", ".env": ".env", a: "a", "a/b": "a/b" },
  { "C:/x": "C%3A/x", "c:x": "c%3Ax", "C:": "C%3A" },
  { "a/con": "a/_con", "CON.txt": "_CON.txt", "com¹": "_com¹", "lpt9.a.b": "_lpt9.a.b", icon: "icon" },
  { "aux .txt": "_aux .txt", "CONIN$": "_CONIN$", "conout$.x": "_conout$.x", "conin": "conin" },
  { "a./b ": "a%2E/b%20", "...": "..%2E", "a.b/c d": "a.b/c d" },
  { "<>|?*": "%3C%3E%7C%3F%2A", 'q"': "q%22" },
  { "a:": "a%3A~1", "a%3A": "a%3A" },
  { "a:b:c": "a%3Ab%3Ac", "a%3Ab:c": "a%3Ab%3Ac~1", "a:b%3Ac": "a%3Ab%3Ac~3", "a%3Ab%3Ac~2": "a%3Ab%3Ac~2" },
];
for (const names of ARCHIVES) {
  Deno.test(`archiveNames() gives the names ${JSON.stringify(names)}`, () =>
    assertEquals(archiveNames(Object.keys(names)), Object.values(names)));
}
