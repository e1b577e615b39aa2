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

Deno.test("ConsoleSessions remembers a session until its time or the token's is over", () => {
  const sessions = new ConsoleSessions("secret");
  const [long, brief] = [token(1_000_000), token(5)];
  sessions.remember("long", long, 1000);
  sessions.remember("brief", brief, 1000);
  const open = (hash: string, now: number) => sessions.isOpen(hash, now);
  assertEquals([open("long", 999 + REMEMBERED), open("long", 1000 + REMEMBERED)], [true, false]);
  assertEquals([open("brief", 4999), open("brief", 5000)], [true, false]);
  assertEquals(open("other", 1000), false);
  assertEquals(ACCESS_TOKEN_REMEMBERED_SECONDS < 600, true);
});

Deno.test("ConsoleSessions forgets a session that ended, and never one without an end", () => {
  const sessions = new ConsoleSessions("secret");
  sessions.remember("ended", token(1_000_000), 0);
  sessions.forget("ended");
  sessions.remember("endless", "a.b.c", 0);
  assertEquals([sessions.isOpen("ended", 1), sessions.isOpen("endless", 1)], [false, false]);
});
