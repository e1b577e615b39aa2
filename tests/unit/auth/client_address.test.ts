import { assertEquals } from "@std/assert";
import { clientAddress } from "../../../supabase/functions/api/auth/client_address.ts";

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
