import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  apiKeyPrefix,
  generateApiKey,
  hashApiKey,
  isWellFormedApiKey,
} from "../../../supabase/functions/api/auth/api_key.ts";

/** A key written by hand. Its checksum is the CRC-32 of the first 31 characters, computed without the code under test. */
const KEY = "oa_0123456789ABCDEFGHIJKLMNOPQR" + "1vvWbd";

Deno.test("generateApiKey makes 37 characters: oa_, 28 random, 6 of checksum", () => {
  for (let round = 0; round < 1000; round++) {
    const key = generateApiKey();
    assertMatch(key, /^oa_[0-9A-Za-z]{34}$/);
    assert(isWellFormedApiKey(key), key);
  }
});

Deno.test("generateApiKey draws every character equally often", () => {
  const counts = new Map<string, number>();
  const keys = 20_000;
  for (let round = 0; round < keys; round++) {
    for (const character of generateApiKey().slice(3, 31)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  assertEquals(counts.size, 62);
  const expected = keys * 28 / 62;
  let chiSquared = 0;
  for (const count of counts.values()) chiSquared += (count - expected) ** 2 / expected;
  // 61 degrees of freedom: above 150 once in a billion runs; a modulo bias would make it several thousand.
  assert(chiSquared < 150, `chi squared ${chiSquared}`);
});

Deno.test("isWellFormedApiKey refuses every change of one character", () => {
  assert(isWellFormedApiKey(KEY));
  for (let index = 0; index < KEY.length; index++) {
    for (const other of "0AZaz_- é") {
      if (KEY[index] === other) continue;
      assertEquals(isWellFormedApiKey(KEY.slice(0, index) + other + KEY.slice(index + 1)), false);
    }
  }
});

Deno.test("isWellFormedApiKey refuses other lengths and marks", () => {
  const right = ["oa_0123456789ABCDEFGHIJKLMNOPQRS0hzooo", "oa_0123456789ABCDEFGHIJKLMNOPQ36dnp1"];
  const near = [KEY.slice(0, -1), KEY + "0", KEY + "\n", " " + KEY, "sk" + KEY.slice(2)];
  for (const text of [...right, "", "oa_", ...near]) {
    assertEquals(isWellFormedApiKey(text), false, JSON.stringify(text));
  }
});

Deno.test("hashApiKey is SHA-256 in lower-case hexadecimal", async () => {
  assertEquals(await hashApiKey("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assertNotEquals(await hashApiKey(generateApiKey()), await hashApiKey(generateApiKey()));
});

Deno.test("apiKeyPrefix shows 10 characters", () => {
  assertEquals(apiKeyPrefix(KEY), "oa_0123456");
});
