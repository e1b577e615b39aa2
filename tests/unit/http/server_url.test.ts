/** The public address of the service, computed from a gateway's headers. */
import { assertEquals } from "@std/assert";
import { serverUrl } from "../../../supabase/functions/api/http/server_url.ts";

type Forwarded = Readonly<Record<string, string>>;

const INSIDE = "http://127.0.0.1:9000";
const FUNCTION = "/functions/v1/api";

const CASES: readonly (readonly [string, string, Forwarded, string])[] = [
  [
    "hosted",
    `${INSIDE}/api/openapi.json`,
    { "x-forwarded-host": "ref.supabase.co", "x-forwarded-port": "443", "x-forwarded-proto": "https" },
    `https://ref.supabase.co${FUNCTION}`,
  ],
  [
    "hosted, several hops: the first is the client's",
    `${INSIDE}/api/openapi.json`,
    { "x-forwarded-host": "files.example.com, inner", "x-forwarded-proto": "https, http" },
    `https://files.example.com${FUNCTION}`,
  ],
  [
    "hosted, without a forwarded host",
    "http://ref.supabase.co/api/openapi.json",
    { "x-forwarded-proto": "https" },
    `https://ref.supabase.co${FUNCTION}`,
  ],
  [
    "local",
    `${INSIDE}/api/openapi.json`,
    { "x-forwarded-host": "127.0.0.1:54321", "x-forwarded-port": "54321", "x-forwarded-proto": "http" },
    `http://127.0.0.1:54321${FUNCTION}`,
  ],
  [
    "local, a port beside the host",
    `${INSIDE}/api/openapi.json`,
    { "x-forwarded-host": "localhost", "x-forwarded-port": "8000", "x-forwarded-proto": "http" },
    `http://localhost:8000${FUNCTION}`,
  ],
  [
    "IPv6",
    `${INSIDE}/api/openapi.json`,
    { "x-forwarded-host": "[::1]:8000" },
    `http://[::1]:8000${FUNCTION}`,
  ],
  ["the whole path", `${INSIDE}${FUNCTION}/openapi.json`, {}, INSIDE + FUNCTION],
  ["no gateway", `${INSIDE}/openapi.json`, {}, INSIDE],
  ...["", "a b", "evil.com/x", "user@evil.com", "a:999999", '"><script>'].map((host) =>
    [
      `no host: ${JSON.stringify(host)}`,
      `${INSIDE}/api/openapi.json`,
      { "x-forwarded-host": host },
      INSIDE + FUNCTION,
    ] as const
  ),
];

for (const [name, url, headers, expected] of CASES) {
  Deno.test(`serverUrl: ${name}`, () => {
    assertEquals(serverUrl(new Request(url, { headers })), expected);
  });
}
