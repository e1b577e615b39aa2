import { assertEquals, assertRejects } from "@std/assert";
import { MinuteCounts } from "../../../supabase/functions/api/auth/minute_counts.ts";
import { ConsoleSessions } from "../../../supabase/functions/api/auth/console_sessions.ts";
import { identify } from "../../../supabase/functions/api/auth/identify.ts";
import { KeyCache } from "../../../supabase/functions/api/auth/key_cache.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import { ADDRESS_REQUESTS_PER_MINUTE } from "../../../supabase/functions/api/limits.ts";

const NOW = 1_000_000;

function operator(failedAuth: MinuteCounts, key: string) {
  const parts = {
    address: "192.0.2.1",
    failedAuth,
    now: () => NOW,
    accounts: { openSession: () => Promise.reject(new Error("no session is opened")) },
    sessions: new ConsoleSessions("secret"),
    keys: new KeyCache(),
    secretKeys: ["sb_secret_right", "legacy"],
  };
  return identify(new Headers({ authorization: `Bearer ${key}` }), "secret key", {
    ...parts,
    onRate: () => {},
  });
}

Deno.test("a wrong secret key counts as a failed authentication of its address; a right one never does", async () => {
  const failedAuth = new MinuteCounts(ADDRESS_REQUESTS_PER_MINUTE, 10);
  for (let attempt = 1; attempt <= ADDRESS_REQUESTS_PER_MINUTE; attempt++) {
    const error = await assertRejects(() => operator(failedAuth, `guess ${attempt}`), ApiError);
    assertEquals(error.status, 401);
    assertEquals(failedAuth.view("192.0.2.1", NOW).remaining, ADDRESS_REQUESTS_PER_MINUTE - attempt);
  }
  assertEquals((await assertRejects(() => operator(failedAuth, "one more"), ApiError)).status, 429);
  for (const key of ["sb_secret_right", "legacy"]) {
    assertEquals(await operator(failedAuth, key), { kind: "operator" });
  }
});
