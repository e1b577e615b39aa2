import { assertEquals } from "@std/assert";
import type { Grant } from "../../../supabase/functions/api/ports/answer.ts";
import { KeyCache } from "../../../supabase/functions/api/auth/key_cache.ts";
import { KEY_REMEMBERED_SECONDS, KEYS_REMEMBERED_MAX } from "../../../supabase/functions/api/limits.ts";

const GRANT: Grant = {
  ...{ accountId: null, projectId: "p", keyId: "k", scopes: ["read"] },
  ...{ tier: "free", maxFileBytes: 10, pathPrefix: null },
};
const REMEMBERED = KEY_REMEMBERED_SECONDS * 1000;
const rate = (remaining: number | null, reset = 120) => {
  return { limit: remaining === null ? null : 100, remaining, reset };
};

Deno.test("KeyCache remembers a grant for its time, to the millisecond", () => {
  const keys = new KeyCache();
  keys.remember("a", GRANT, rate(5), 1000);
  assertEquals(keys.grant("a", 1000), GRANT);
  assertEquals(keys.grant("a", 1000 + REMEMBERED - 1), GRANT);
  assertEquals(keys.grant("a", 1000 + REMEMBERED), undefined);
  assertEquals(keys.isRefused("a", 1000), false);
});

Deno.test("KeyCache remembers a refusal for its time, and no grant with it", () => {
  const keys = new KeyCache();
  keys.remember("a", null, null, 0);
  assertEquals([keys.isRefused("a", 0), keys.grant("a", 0)], [true, undefined]);
  assertEquals(keys.isRefused("a", REMEMBERED), false);
});

Deno.test("KeyCache takes the latest answer for a key", () => {
  const keys = new KeyCache();
  keys.remember("a", GRANT, rate(0), 0);
  keys.remember("a", null, null, 1);
  assertEquals([keys.isRefused("a", 1), keys.exhausted("a", 1)], [true, undefined]);
  keys.remember("a", { ...GRANT, tier: "pro" }, rate(7), 2);
  assertEquals([keys.grant("a", 2)?.tier, keys.exhausted("a", 2)], ["pro", undefined]);
});

Deno.test("KeyCache knows a used-up window until it ends; one with requests left, or without limit, never", () => {
  const keys = new KeyCache();
  keys.remember("a", GRANT, rate(0, 60), 1000);
  assertEquals(keys.exhausted("a", 59_999), rate(0, 60));
  assertEquals(keys.exhausted("a", 60_000), undefined);
  assertEquals(keys.grant("a", 60_000), GRANT);
  keys.remember("b", GRANT, rate(1, 60), 1000);
  keys.remember("c", GRANT, rate(null, 60), 1000);
  keys.remember("d", GRANT, null, 1000);
  for (const key of ["b", "c", "d"]) assertEquals(keys.exhausted(key, 1000), undefined);
  // If another clock is ahead, its window is still not remembered longer than any other.
  keys.remember("e", GRANT, rate(0, 100_000), 0);
  assertEquals(keys.exhausted("e", REMEMBERED), undefined);
});

Deno.test("KeyCache holds a bounded number of keys, and forgets those that were added longest ago", () => {
  const keys = new KeyCache();
  for (let index = 0; index < KEYS_REMEMBERED_MAX; index++) keys.remember(`${index}`, GRANT, null, 0);
  keys.remember("0", GRANT, null, 0);
  keys.remember("one more", GRANT, null, 0);
  const held = ["0", "1", "2", "one more"].filter((key) => keys.grant(key, 0) !== undefined);
  assertEquals(held, ["0", "2", "one more"]);
});
