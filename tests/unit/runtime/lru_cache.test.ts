import { assertEquals } from "@std/assert";
import { LruCache } from "../../../supabase/functions/api/runtime/lru_cache.ts";

const MAX = 3;

/** A cache to which these keys were added in order; each key's value is its position. */
function cacheOf(keys: string): LruCache<string, number> {
  const cache = new LruCache<string, number>(MAX);
  [...keys].forEach((key, place) => cache.set(key, place));
  return cache;
}

function held(cache: LruCache<string, number>): string {
  return [..."abcdef"].filter((key) => cache.peek(key) !== undefined).join("");
}

Deno.test("LruCache holds a number of entries, and evicts those that were set longest ago", () => {
  const cases: [string, string][] = [
    ["", ""],
    ["abc", "abc"],
    ["abcd", "bcd"],
    ["abcdef", "def"],
    ["abcad", "acd"],
    ["aaaa", "a"],
    ["abcccc", "abc"],
  ];
  for (const [keys, left] of cases) assertEquals(held(cacheOf(keys)), left, keys);
});

Deno.test("LruCache.peek keeps nothing for longer", () => {
  const cache = cacheOf("abc");
  cache.peek("a");
  cache.set("d", 0);
  assertEquals(held(cache), "bcd");
});

Deno.test("LruCache.get counts as a use: the entry outlives those that were set after it", () => {
  const cache = cacheOf("abc");
  assertEquals(cache.get("a"), 0);
  cache.set("d", 0);
  assertEquals(held(cache), "acd");
});

Deno.test("LruCache returns what was set last, and nothing once that is deleted", () => {
  const cache = cacheOf("aba");
  assertEquals([cache.get("a"), cache.get("b"), cache.get("c")], [2, 1, undefined]);
  cache.delete("a");
  assertEquals(cache.get("a"), undefined);
  cache.set("c", 0);
  cache.set("d", 0);
  assertEquals(held(cache), "bcd");
});

Deno.test("LruCache bounds the weight of all entries, and keeps no value that weighs more than that", () => {
  const cache = new LruCache<string, number>(10, (value) => value);
  cache.set("a", 4);
  cache.set("b", 6);
  assertEquals(held(cache), "ab");
  cache.set("c", 5);
  assertEquals(held(cache), "c", "both had to go to make room");
  cache.set("d", 5);
  assertEquals(held(cache), "cd");
  cache.set("c", 3);
  cache.set("e", 2);
  assertEquals(held(cache), "cde", "a value that is replaced gives its weight back");
  cache.set("f", 11);
  assertEquals(held(cache), "cde");
  cache.delete("d");
  cache.set("a", 5);
  assertEquals(held(cache), "ace", "a value that is deleted gives its weight back");
});
