/** The public address of the service, computed from a gateway's headers. */
import { assertEquals } from "@std/assert";
import { serverUrl } from "../../../supabase/functions/api/http/server_url.ts";

const INSIDE = "http://127.0.0.1:9000";
const FUNCTION = "/functions/v1/api";
const OPENAPI = `${INSIDE}/api/openapi.json`;
const HOSTED = "http://ref.supabase.co/api/openapi.json";

/** What is tested, the URL that the function sees, host, port and protocol of `x-forwarded-*`, and the public address. */
const CASES: readonly (readonly [string, string, readonly string[], string])[] = [
  ["hosted", OPENAPI, ["ref.supabase.co", "443", "https"], `https://ref.supabase.co${FUNCTION}`],
  [
    "hosted, several hops: the first is the client's",
    ...[
      OPENAPI,
      ["files.example.com, inner", "", "https, http"],
      `https://files.example.com${FUNCTION}`,
    ] as const,
  ],
  ["hosted, without a forwarded host", HOSTED, ["", "", "https"], `https://ref.supabase.co${FUNCTION}`],
  ["local", OPENAPI, ["127.0.0.1:54321", "54321", "http"], `http://127.0.0.1:54321${FUNCTION}`],
  [
    "local, a port beside the host",
    OPENAPI,
    ["localhost", "8000", "http"],
    `http://localhost:8000${FUNCTION}`,
  ],
  ["IPv6", OPENAPI, ["[::1]:8000"], `http://[::1]:8000${FUNCTION}`],
  ["the whole path", `${INSIDE}${FUNCTION}/openapi.json`, [], INSIDE + FUNCTION],
  ["no gateway", `${INSIDE}/openapi.json`, [], INSIDE],
  ...["a b", "evil.com/x", "user@evil.com", "a:999999", '"><script>'].map((host) =>
    [`no host: ${JSON.stringify(host)}`, OPENAPI, [host], INSIDE + FUNCTION] as const
  ),
];

for (const [name, url, forwarded, expected] of CASES) {
  Deno.test(`serverUrl: ${name}`, () => {
    const headers = ["host", "port", "proto"].map((
      part,
      index,
    ) => [`x-forwarded-${part}`, forwarded[index] ?? ""])
      .filter(([, value]) => value !== "");
    assertEquals(serverUrl(new Request(url, { headers: Object.fromEntries(headers) })), expected);
  });
}

Deno.test("serverUrl: an empty host is none", () => {
  assertEquals(serverUrl(new Request(OPENAPI, { headers: { "x-forwarded-host": "" } })), INSIDE + FUNCTION);
});
