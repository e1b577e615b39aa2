import { assertEquals } from "@std/assert";
import { BoundedMap } from "../../../supabase/functions/api/runtime/bounded_map.ts";

const MAX = 3;

/** A map to which these keys were set in this order, each with its place as its value. */
function mapOf(keys: string): BoundedMap<string, number> {
  const map = new BoundedMap<string, number>(MAX);
  [...keys].forEach((key, place) => map.set(key, place));
  return map;
}

function held(map: BoundedMap<string, number>): string {
  return [..."abcdef"].filter((key) => map.get(key) !== undefined).join("");
}

Deno.test("BoundedMap holds so many entries, and forgets those that were set longest ago", () => {
  const cases: [string, string][] = [
    ["", ""],
    ["abc", "abc"],
    ["abcd", "bcd"],
    ["abcdef", "def"],
    ["abcad", "acd"],
    ["aaaa", "a"],
    ["abcccc", "abc"],
  ];
  for (const [keys, left] of cases) assertEquals(held(mapOf(keys)), left, keys);
});

Deno.test("BoundedMap: reading keeps nothing for longer", () => {
  const map = mapOf("abc");
  map.get("a");
  map.set("d", 0);
  assertEquals(held(map), "bcd");
});

Deno.test("BoundedMap answers what was set last, and nothing once that is deleted", () => {
  const map = mapOf("aba");
  assertEquals([map.get("a"), map.get("b"), map.get("c")], [2, 1, undefined]);
  map.delete("a");
  assertEquals(map.get("a"), undefined);
  map.set("c", 0);
  map.set("d", 0);
  assertEquals(held(map), "bcd");
});
