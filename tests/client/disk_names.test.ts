/**
 * Every path gets its own place on disk, also on Windows and macOS: their systems ignore case and normalisation, and
 * Windows refuses some names and removes dots and blanks from the end of others. It is the same place after an interruption.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { DISK_NAME_BYTES_MAX, DISK_PATH_BYTES_MAX } from "../../supabase/client/limits.ts";
import { DiskNames } from "../../supabase/client/transfer/disk_names.ts";
import { SEED } from "../support/random.ts";

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
    ["aux.txt", [], "_aux.txt"],
    ["Com1.tar.gz", [], "_Com1.tar.gz"],
    ["lpt³/a", [], "_lpt³/a"],
    ["console/auxiliary.txt", [], "console/auxiliary.txt"],
    ["CON", ["con"], "_CON~"],
    ["con", ["_con"], "_con~"],
    ["a.", ["a%2E"], "a%2E~"],
    ["STRASSE/ü", ["strasse/U\u0308"], "STRASSE/ü~"],
    ["e\u0323\u0307", ["e\u0307\u0323"], "e\u0323\u0307~"],
    ["\u212b", ["\u00e5"], "\u212b~"],
  ] as const
) {
  Deno.test(`DiskNames gives ${JSON.stringify(path)} after ${JSON.stringify(before)} the place ${place}`, () => {
    const names = new DiskNames();
    const taken = before.map((name) => names.place(name));
    assertEquals(names.place(path), place);
    const again = new DiskNames();
    for (const name of taken) again.take(name);
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

/** Whether Windows and macOS hold a file of this name as it is written: their documented rules, apart from the code's. */
function isHeld(name: string): boolean {
  const [stem = ""] = name.split(".");
  const device = /^(CON(IN\$|OUT\$)?|PRN|AUX|NUL|COM[0-9\u00b9\u00b2\u00b3]|LPT[0-9\u00b9\u00b2\u00b3])$/;
  return !device.test(stem.trimEnd().toUpperCase()) && !/[. ]$/.test(name) &&
    ![...'<>:"|?*\\'].some((one) => name.includes(one));
}

const odd =
  "con CON Con.txt aux.txt nul NUL .x COM1 lpt\u00b9.a a A \u00e4 a\u0308 A\u0308 \u212b \u00e5 a: a%3A a. a%2E a~ ~long _con"
    .split(" ");
const segment = fc.oneof(
  fc.constantFrom(...odd, "a ", "con ", "aux .txt", "CON. .x", "conin$", "CONOUT$ .x"),
  fc.string({ unit: fc.constantFrom(..."aAäÄ.~ :%/_".replace("/", "")), minLength: 1, maxLength: 4 }),
).filter((one) => one !== "." && one !== "..");
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"));

Deno.test("DiskNames keeps any paths apart on Windows and macOS, under names that both hold", () => {
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 12 }), (paths) => {
      const names = new DiskNames();
      const places = paths.map((one) => names.place(one));
      for (const name of places.flatMap((place) => place.split("/"))) assert(isHeld(name), name);
      const folded = places.map((place) => place.normalize("NFD").toUpperCase().normalize("NFD"));
      assertEquals(new Set(folded).size, places.length, places.join(", "));
      for (const one of folded) {
        assert(!folded.some((other) => other.startsWith(`${one}/`)), `${one} is a folder, too`);
      }
    }),
    { seed: SEED, numRuns: 2000 },
  );
});
