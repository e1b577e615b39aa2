/** What the console says of the service's limits is what they are. */
import { assertEquals, assertGreater } from "@std/assert";
import * as consoleLimits from "../../../supabase/console/src/limits.ts";
import * as serviceLimits from "../../../supabase/functions/api/limits.ts";

Deno.test("console: a limit that has the name of one of the service's has its value", () => {
  const service = new Map<string, unknown>(Object.entries(serviceLimits));
  const shared = Object.entries(consoleLimits).filter(([name]) => service.has(name));
  assertGreater(shared.length, 3);
  assertEquals(shared.filter(([name, value]) => service.get(name) !== value), []);
});
