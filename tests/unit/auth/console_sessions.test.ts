import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { ConsoleSessions } from "../../../supabase/functions/api/auth/console_sessions.ts";
import { ACCESS_TOKEN_REMEMBERED_SECONDS } from "../../../supabase/functions/api/limits.ts";

const REMEMBERED = ACCESS_TOKEN_REMEMBERED_SECONDS * 1000;

function token(exp: number): string {
  return `a.${btoa(JSON.stringify({ exp }))}.c`;
}

Deno.test("ConsoleSessions.tokenHash is the same in every isolate, and differs by project, access token and secret", async () => {
  const hash = await new ConsoleSessions("secret").tokenHash("p", "a");
  assertMatch(hash, /^[0-9a-f]{64}$/);
  assertEquals(await new ConsoleSessions("secret").tokenHash("p", "a"), hash);
  assertNotEquals(await new ConsoleSessions("secret").tokenHash("q", "a"), hash);
  assertNotEquals(await new ConsoleSessions("secret").tokenHash("p", "b"), hash);
  assertNotEquals(await new ConsoleSessions("other").tokenHash("p", "a"), hash);
});

Deno.test("ConsoleSessions remembers a token for its project, until its time or the token's is over", async () => {
  const sessions = new ConsoleSessions("secret");
  const [long, brief] = [token(1_000_000), token(5)];
  await sessions.remember(long, "p", 1000);
  await sessions.remember(brief, "p", 1000);
  const open = (text: string, project: string, now: number) => sessions.isOpen(text, project, now);
  assertEquals([await open(long, "p", 999 + REMEMBERED), await open(long, "p", 1000 + REMEMBERED)], [
    true,
    false,
  ]);
  assertEquals([await open(brief, "p", 4999), await open(brief, "p", 5000)], [true, false]);
  assertEquals([await open(long, "q", 1000), await open(token(2_000_000), "p", 1000)], [false, false]);
  assertEquals(ACCESS_TOKEN_REMEMBERED_SECONDS < 600, true);
});

Deno.test("ConsoleSessions forgets a session that ended, and never one without an end", async () => {
  const sessions = new ConsoleSessions("secret");
  await sessions.remember(token(1_000_000), "p", 0);
  await sessions.forget(token(1_000_000), "p");
  await sessions.remember("a.b.c", "p", 0);
  assertEquals(await sessions.isOpen(token(1_000_000), "p", 1), false);
  assertEquals(await sessions.isOpen("a.b.c", "p", 1), false);
});
