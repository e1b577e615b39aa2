import { assertEquals } from "@std/assert";
import { AddressWindows, clientAddress } from "../../../supabase/functions/api/auth/failed_auth_limiter.ts";
import {
  ADDRESS_REQUESTS_PER_MINUTE,
  ADDRESSES_REMEMBERED_MAX,
} from "../../../supabase/functions/api/limits.ts";

const MINUTE = 60_000;
const LIMIT = ADDRESS_REQUESTS_PER_MINUTE;

function spendAll(windows: AddressWindows, address: string, now: number): void {
  for (let times = 0; times < LIMIT; times++) assertEquals(windows.spend(address, now), true);
}

Deno.test("AddressWindows shows limit, what is left, and the end of the clock minute", () => {
  const windows = new AddressWindows();
  assertEquals(windows.view("a", 90_001), { limit: LIMIT, remaining: LIMIT, reset: 120 });
  windows.spend("a", 90_002);
  assertEquals(windows.view("a", 119_999), { limit: LIMIT, remaining: LIMIT - 1, reset: 120 });
  assertEquals(windows.view("a", 120_000), { limit: LIMIT, remaining: LIMIT, reset: 180 });
});

Deno.test("AddressWindows lets an address fail so often in a minute, and no more; others go on", () => {
  const windows = new AddressWindows();
  spendAll(windows, "a", 1000);
  for (let times = 0; times < 3; times++) assertEquals(windows.spend("a", MINUTE - 1), false);
  assertEquals(windows.view("a", 1000).remaining, 0);
  assertEquals(windows.spend("b", 1000), true);
  assertEquals(windows.spend("a", MINUTE), true);
  assertEquals(windows.view("a", MINUTE).remaining, LIMIT - 1);
});

Deno.test("AddressWindows shows without spending", () => {
  const windows = new AddressWindows();
  for (let times = 0; times < 2 * LIMIT; times++) windows.view("a", 0);
  assertEquals(windows.view("a", 0).remaining, LIMIT);
});

Deno.test("AddressWindows: of a flood of addresses those without room share one count; those before keep theirs", () => {
  const windows = new AddressWindows();
  for (let index = 0; index < ADDRESSES_REMEMBERED_MAX; index++) windows.spend(`early ${index}`, 0);
  for (let index = 0; index < LIMIT; index++) assertEquals(windows.spend(`late ${index}`, 0), true);
  assertEquals(windows.spend("later still", 0), false);
  assertEquals(windows.view("later still", 0).remaining, 0);
  assertEquals(windows.spend("early 0", 0), true);
  assertEquals(windows.view("early 0", 0).remaining, LIMIT - 2);
  assertEquals(windows.spend("later still", MINUTE), true);
});

Deno.test("clientAddress is what the platform vouches for, never the client's own word", () => {
  const cases: [Record<string, string>, string][] = [
    [{}, "unknown"],
    [{ "x-forwarded-for": "1.1.1.1" }, "1.1.1.1"],
    [{ "x-forwarded-for": "9.9.9.9, 1.1.1.1" }, "1.1.1.1"],
    [{ "x-forwarded-for": "9.9.9.9,  2001:db8::1 " }, "2001:db8::1"],
    [{ "cf-connecting-ip": "2.2.2.2", "x-forwarded-for": "9.9.9.9" }, "2.2.2.2"],
  ];
  for (const [headers, address] of cases) assertEquals(clientAddress(new Headers(headers)), address);
});
