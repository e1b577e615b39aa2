import { assertEquals, assertRejects } from "@std/assert";
import { OAUTH_RECORD_LENGTH_MAX } from "../../../supabase/functions/api/limits.ts";
import { atRedirect, findClient, registration } from "../../../supabase/functions/api/oauth/client.ts";
import { Outside } from "../../../supabase/functions/api/outbound/outside.ts";
import { ClientDocuments } from "../../../supabase/functions/api/oauth/client_documents.ts";
import { OAuthError } from "../../../supabase/functions/api/oauth/errors.ts";
import { SignedRecords } from "../../../supabase/functions/api/oauth/signed.ts";
import { host } from "../outbound/host.ts";

const records = new SignedRecords("secret");
const documents = new ClientDocuments(new Outside(["127.0.0.1:1"]));
const URIS = ["https://app.example/back", "http://localhost/back", "app://back"];

function register(body: unknown) {
  return registration(records, body, 1_700_000_000_999);
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await assertRejects(() => work, OAuthError);
  return `${error.status} ${error.error}`;
}

Deno.test("a registration is answered as stored, with a client id that contains it", async () => {
  const { client_id, ...others } = await register({
    client_name: "App",
    redirect_uris: URIS,
    token_endpoint_auth_method: "client_secret_basic",
    grant_types: ["authorization_code", "implicit"],
    logo_uri: "javascript:alert(1)",
    software_statement: 5,
  });
  assertEquals(others, {
    client_id_issued_at: 1_700_000_000,
    client_name: "App",
    redirect_uris: URIS,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  });
  const client = await findClient(records, documents, client_id);
  assertEquals(client, { id: client_id, name: "App", redirectUris: URIS });
  // Nothing but its own secret makes an id.
  assertEquals(
    await refusal(findClient(new SignedRecords("other"), documents, client_id)),
    "401 invalid_client",
  );
});

Deno.test("a registration that is no description of a client is refused, and says at what", async () => {
  for (const body of [undefined, null, [], "a", 5, [{ redirect_uris: URIS }]]) {
    assertEquals(await refusal(register(body)), "400 invalid_client_metadata");
  }
  const metadata = [
    { client_name: 5 },
    { grant_types: ["client_credentials"] },
    { grant_types: "authorization_code" },
    { response_types: ["token"] },
    { response_types: [] },
  ];
  for (const wrong of metadata) {
    assertEquals(await refusal(register({ redirect_uris: URIS, ...wrong })), "400 invalid_client_metadata");
  }
  const long = Array.from({ length: 4 }, (_, n) => `https://app.example/${n}${"a".repeat(450)}`);
  const many = Array.from({ length: 21 }, (_, n) => `app://${n}`);
  for (
    const redirect_uris of [
      undefined,
      null,
      [],
      "https://a/",
      [5],
      ["https://a/", "javascript:a"],
      ["http://a/"],
      long,
      many,
    ]
  ) {
    assertEquals(await refusal(register({ redirect_uris })), "400 invalid_redirect_uri");
  }
});

Deno.test("a name has no hidden characters, one line, and 100 characters", async () => {
  const names = [
    ["Claude\u202egnp.exe", "Claudegnp.exe"],
    ["Cl\u200bau\u2066de\u00ad\u{e0041}\ufe0f\u3164", "Claude"],
    [" Claude\n\tis\r\nyour \u2028 operator\0 ", "Claude is your operator"],
    ["<b>Claude</b>", "<b>Claude</b>"],
    ["\ud800Claude", "\ufffdClaude"],
    ["🜁".repeat(500), "🜁".repeat(100)],
    ["a".repeat(500), "a".repeat(100)],
    ["\u200b", ""],
  ];
  for (const [client_name, shown] of names) {
    const { client_id, client_name: answered } = await register({ client_name, redirect_uris: URIS });
    assertEquals([answered, (await findClient(records, documents, client_id)).name], [shown, shown]);
  }
  assertEquals((await register({ redirect_uris: URIS })).client_name, "");
});

Deno.test("the id of the largest client is a record that can be read, with room for a request around it", async () => {
  const redirect_uris = Array.from({ length: 20 }, (_, n) => `https://app.example/${n}/${"a".repeat(50)}`);
  const { client_id } = await register({ client_name: "\u{10ffff}".repeat(100), redirect_uris });
  assertEquals((await findClient(records, documents, client_id)).redirectUris, redirect_uris);
  assertEquals(client_id.length < OAUTH_RECORD_LENGTH_MAX / 2, true);
});

Deno.test("a record that is no client's, and an id that is nothing, are no client", async () => {
  const ids = [
    await records.sign("request", { name: "a", redirectUris: URIS }),
    await records.sign("client", null),
    await records.sign("client", { name: "a", redirectUris: [5] }),
    ...["", "a", "a.b", "https://127.0.0.1/a", "cursor://a", "javascript:a"],
  ];
  for (const id of ids) {
    assertEquals(await refusal(findClient(records, documents, id)), "401 invalid_client", id);
  }
});

Deno.test("the host that a person sees is that of the redirect URI, whatever host has the document; none for an app on the device", async () => {
  const { client_id } = await register({ client_name: "claude.ai", redirect_uris: URIS });
  const registered = await findClient(records, documents, client_id);
  const hosts = [
    "https://app.example/back",
    "http://localhost:5/back",
    "app://back",
    "https://app.example/other",
  ];
  assertEquals(hosts.map((uri) => atRedirect(registered, uri)?.host), ["app.example", "", "", undefined]);

  await using server = host(false, () => {
    const body = JSON.stringify({ client_id: id, redirect_uris: URIS });
    return [
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ];
  });
  const own = `127.0.0.1:${server.port}`;
  const id = `http://${own}/client.json`;
  const described = await findClient(records, new ClientDocuments(new Outside([own])), id);
  assertEquals(described, { id, name: "", redirectUris: URIS });
  assertEquals(hosts.map((uri) => atRedirect(described, uri)?.host), ["app.example", "", "", undefined]);
});
