import { assertEquals } from "@std/assert";
import { Notices } from "../../../supabase/functions/api/adapters/notices.ts";
import { NOTICE_INTERVAL_SECONDS } from "../../../supabase/functions/api/limits.ts";
import { silent } from "../../support/stack/supabase_client.ts";
import { ManualClock } from "../../support/manual_clock.ts";

Deno.test("Notices says what the operator must do once in its interval, for each fault by itself", () => {
  const clock = new ManualClock();
  const said: string[] = [];
  const log = { ...silent, actionRequired: (problem: string) => void said.push(problem) };
  const notices = new Notices(log, clock);
  for (let n = 0; n < 1000; n++) notices.report("secret_key_refused");
  assertEquals(said, ["secret_key_refused"]);
  notices.report("function_unknown");
  clock.advance(NOTICE_INTERVAL_SECONDS * 1000 - 1);
  notices.report("secret_key_refused");
  assertEquals(said, ["secret_key_refused", "function_unknown"]);
  clock.advance(1);
  notices.report("secret_key_refused");
  assertEquals(said, ["secret_key_refused", "function_unknown", "secret_key_refused"]);
});
