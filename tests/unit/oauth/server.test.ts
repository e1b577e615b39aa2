import { assertEquals, assertThrows } from "@std/assert";
import { ApiError } from "../../../supabase/functions/api/errors.ts";
import {
  OAUTH_AUTHORIZATIONS_PER_MINUTE,
  OAUTH_REGISTRATIONS_PER_HOUR,
  OAUTH_TOKENS_PER_MINUTE,
} from "../../../supabase/functions/api/limits.ts";
import { Outside } from "../../../supabase/functions/api/outbound/outside.ts";
import { OAuthServer } from "../../../supabase/functions/api/oauth/server.ts";

const MINUTE = 60_000;
const RATES = [
  ["register", OAUTH_REGISTRATIONS_PER_HOUR, 60 * MINUTE],
  ["authorize", OAUTH_AUTHORIZATIONS_PER_MINUTE, MINUTE],
  ["token", OAUTH_TOKENS_PER_MINUTE, MINUTE],
] as const;

Deno.test("each address has its own number of requests of each kind, until the minute or the hour ends", () => {
  const server = new OAuthServer("secret", new Outside());
  const start = 5 * 60 * MINUTE;
  for (const [what, limit, period] of RATES) {
    const count = (address: string, at: number) => server.count(what, { address }, at);
    for (let n = 0; n < limit; n++) count("192.0.2.1", start + n % period);
    const error = assertThrows(() => count("192.0.2.1", start + period - 1), ApiError);
    assertEquals([error.code, error.headers], ["RATE_LIMIT_EXCEEDED", { "Retry-After": "1" }], what);
    count("192.0.2.2", start + period - 1);
    count("192.0.2.1", start + period);
  }
});
