/** Which failures of a database call are retried. */
import { assertEquals, assertRejects } from "@std/assert";
import type { SupabaseClient } from "@supabase/supabase-js";
import { Notices } from "../../../supabase/functions/api/adapters/notices.ts";
import { callFunction } from "../../../supabase/functions/api/adapters/rpc.ts";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import { BACKEND_TRIES_MAX } from "../../../supabase/functions/api/limits.ts";
import { systemClock } from "../../../supabase/functions/api/runtime/clock.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import { consoleLog } from "../../../supabase/functions/api/runtime/log.ts";

const LOG = { ...consoleLog, backendFault() {}, actionRequired() {} };

const CASES = [
  ["a lost race for a lock", "55P03", BACKEND_TRIES_MAX],
  ["a shutdown", "57P01", BACKEND_TRIES_MAX],
  ["a statement that took too long: it would again", "57014", 1],
] as const;

for (const [name, code, expected] of CASES) {
  Deno.test(`tries after ${name}: ${expected}`, async () => {
    let tries = 0;
    const rpc = () => {
      tries++;
      return Promise.resolve({ data: null, error: { code, message: "" }, status: 500 });
    };
    const client = { rpc } as unknown as SupabaseClient;
    const parts = {
      log: LOG,
      notices: new Notices(LOG, systemClock),
      deadline: new Deadline(20_000, systemClock),
    };
    const failure = await assertRejects(() => callFunction(client, parts, "f", {}), ApiError);
    assertEquals([tries, failure.code], [expected, "SERVICE_UNAVAILABLE"]);
  });
}
