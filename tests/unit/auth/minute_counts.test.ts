import { assertEquals } from "@std/assert";
import { MinuteCounts } from "../../../supabase/functions/api/auth/minute_counts.ts";
import {
  ADDRESS_REQUESTS_PER_MINUTE,
  ADDRESSES_REMEMBERED_MAX,
} from "../../../supabase/functions/api/limits.ts";

const MINUTE = 60_000;
const LIMIT = ADDRESS_REQUESTS_PER_MINUTE;

const failedAuth = () => new MinuteCounts(LIMIT, ADDRESSES_REMEMBERED_MAX);

function consumeAll(limiter: MinuteCounts, address: string, now: number): void {
  for (let times = 0; times < LIMIT; times++) assertEquals(limiter.consume(address, now), true);
}

Deno.test("MinuteCounts shows limit, what is left, and the end of the clock minute", () => {
  const limiter = failedAuth();
  assertEquals(limiter.view("a", 90_001), { limit: LIMIT, remaining: LIMIT, reset: 120 });
  limiter.consume("a", 90_002);
  assertEquals(limiter.view("a", 119_999), { limit: LIMIT, remaining: LIMIT - 1, reset: 120 });
  assertEquals(limiter.view("a", 120_000), { limit: LIMIT, remaining: LIMIT, reset: 180 });
});

Deno.test("MinuteCounts lets an address fail so often in a minute, and no more; others go on", () => {
  const limiter = failedAuth();
  consumeAll(limiter, "a", 1000);
  for (let times = 0; times < 3; times++) assertEquals(limiter.consume("a", MINUTE - 1), false);
  assertEquals(limiter.view("a", 1000).remaining, 0);
  assertEquals(limiter.consume("b", 1000), true);
  assertEquals(limiter.consume("a", MINUTE), true);
  assertEquals(limiter.view("a", MINUTE).remaining, LIMIT - 1);
});

Deno.test("MinuteCounts shows without counting", () => {
  const limiter = failedAuth();
  for (let times = 0; times < 2 * LIMIT; times++) limiter.view("a", 0);
  assertEquals(limiter.view("a", 0).remaining, LIMIT);
});

Deno.test("MinuteCounts: of a flood of addresses those without room share one count; those before keep theirs", () => {
  const limiter = failedAuth();
  for (let index = 0; index < ADDRESSES_REMEMBERED_MAX; index++) limiter.consume(`early ${index}`, 0);
  for (let index = 0; index < LIMIT; index++) assertEquals(limiter.consume(`late ${index}`, 0), true);
  assertEquals(limiter.consume("later still", 0), false);
  assertEquals(limiter.view("later still", 0).remaining, 0);
  assertEquals(limiter.consume("early 0", 0), true);
  assertEquals(limiter.view("early 0", 0).remaining, LIMIT - 2);
  assertEquals(limiter.consume("later still", MINUTE), true);
});
