/** Apps that sign in: what they discover, registration, the request for consent, codes and tokens. */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { ADDRESS_REQUESTS_PER_MINUTE, OAUTH_STATE_LENGTH_MAX } from "../../supabase/functions/api/limits.ts";
import { owner } from "../support/client/accounts.ts";
import { assertRefused } from "../support/client/contract.ts";
import {
  answerRequest,
  App,
  challengeOf,
  connected,
  faultOf,
  form,
  REDIRECT_URI,
  redirectOf,
  tokensOf,
} from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const person = await owner(service);
const base = service.baseUrl;

/** The status of a call at /connect with this token. */
async function statusAt(token: string): Promise<number> {
  return (await connected(service, token).rpc("tools/list")).status;
}

test("an app that a person lets in writes and reads at /connect, and goes on with new tokens", async () => {
  const app = await App.register(service);
  const first = await app.connect(person);
  assertEquals([first.expires_in, first.scope], [3600, "files:read files:write"]);
  await connected(service, first.access_token).call("write_file", { path: "a.txt", content: "by an app" });
  const second = tokensOf(await app.refresh(first.refresh_token));
  const text = await connected(service, second.access_token).call("read_file", { path: "a.txt" });
  assert(text.includes("by an app"), text);
});

test("a 401 at /connect leads to the documents of the resource and of the server, which name each other", async () => {
  const refused = await service.request(null, "POST", "/connect", { body: {} });
  assertRefused(refused, "INVALID_API_KEY");
  assertEquals(
    refused.headers.get("www-authenticate"),
    `Bearer resource_metadata="${base}/connect/oauth-protected-resource", scope="files:read files:write"`,
  );
  const { body } = await service.request(null, "GET", "/connect/oauth-protected-resource");
  assertEquals(body, {
    resource: `${base}/connect`,
    authorization_servers: [base],
    scopes_supported: ["files:read", "files:write"],
    bearer_methods_supported: ["header"],
  });
  const openid = await service.request(null, "GET", "/.well-known/openid-configuration");
  const oauth = await service.request(null, "GET", "/.well-known/oauth-authorization-server");
  assertEquals(openid.body, oauth.body);
  const { issuer, jwks_uri } = Object(openid.body);
  assertEquals([issuer, jwks_uri], [base, `${base}/oauth/jwks`]);
  assertEquals((await service.request(null, "GET", "/oauth/jwks")).body, { keys: [] });
});

test("/mcp has no document of OAuth, and its 401 names none", async () => {
  for (const path of ["/.well-known/oauth-protected-resource", "/mcp/oauth-protected-resource"]) {
    assertRefused(await service.request(null, "GET", path), "ROUTE_NOT_FOUND");
  }
  const { headers } = await service.request(null, "POST", "/mcp", { body: {} });
  assertEquals(headers.get("www-authenticate"), "Bearer");
});

test("a registration has no secret, ignores what it does not know, and refuses other redirect URIs", async () => {
  const body = {
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: "client_secret_basic",
    something: "else",
  };
  const answer = await service.request(null, "POST", "/oauth/register", { body });
  const { token_endpoint_auth_method, client_secret } = Object(answer.body);
  assertEquals([answer.status, token_endpoint_auth_method, client_secret], [201, "none", undefined]);
  for (
    const [body, error] of [
      [{ redirect_uris: ["http://app.example.com/"] }, "invalid_redirect_uri"],
      [{ redirect_uris: [] }, "invalid_redirect_uri"],
      [{ redirect_uris: [REDIRECT_URI], client_name: 7 }, "invalid_client_metadata"],
      ["[1", "invalid_client_metadata"],
    ] as const
  ) assertEquals(faultOf(await service.request(null, "POST", "/oauth/register", { body })), [400, error]);
});

test("a client or redirect URI that is not verified is told so, and nobody is redirected", async () => {
  const app = await App.register(service);
  const [payload = "", mac = ""] = app.clientId.split(".");
  const forged = btoa(atob(payload.replaceAll("-", "+").replaceAll("_", "/")).replace("app.ex", "bad.ex"))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  for (
    const others of [
      { client_id: undefined },
      { client_id: "unknown" },
      { client_id: `${forged}.${mac}`, redirect_uri: REDIRECT_URI.replace("app.ex", "bad.ex") },
      { redirect_uri: undefined },
      { redirect_uri: `${REDIRECT_URI}/more` },
      { redirect_uri: REDIRECT_URI.slice(0, -1) },
      { redirect_uri: REDIRECT_URI.replace("app.", "other.") },
      { redirect_uri: "javascript:alert(1)" },
    ]
  ) {
    const answer = await app.authorize(others);
    assertEquals([answer.status, answer.headers.get("location")], [400, null], JSON.stringify(others));
    assertMatch(faultOf(answer)[1], /^invalid_(request|client)$/);
  }
});

test("what else is wrong with a request is sent to the redirect URI, with its state and the issuer", async () => {
  const app = await App.register(service);
  const plain = { code_challenge: app.verifier, code_challenge_method: "plain" };
  for (
    const [others, expected] of [
      [{ response_type: undefined }, "invalid_request"],
      [{ response_type: "token" }, "unsupported_response_type"],
      [{ response_mode: "fragment" }, "invalid_request"],
      [{ code_challenge: undefined }, "invalid_request"],
      [{ code_challenge_method: undefined }, "invalid_request"],
      [plain, "invalid_request"],
      [{ scope: "files:read admin" }, "invalid_scope"],
      [{ scope: "openid" }, "invalid_scope"],
      [{ resource: `${base}/mcp` }, "invalid_target"],
      [{ resource: "https://other.example.com/connect" }, "invalid_target"],
    ] as const
  ) {
    const answer = await app.authorize(others);
    assertEquals(answer.status, 302, answer.text);
    const address = new URL(answer.headers.get("location") ?? "");
    assertEquals(address.origin + address.pathname, REDIRECT_URI);
    const { error, state, iss } = Object.fromEntries(address.searchParams);
    assertEquals([error, state, iss], [expected, "as it was", base], JSON.stringify(others));
  }
  const long = await app.authorize({ state: "x".repeat(OAUTH_STATE_LENGTH_MAX + 1) });
  const parameters = new URL(long.headers.get("location") ?? "").searchParams;
  assertEquals([parameters.get("error"), parameters.get("state")], ["invalid_request", null]);
});

test("a parameter that comes twice is refused", async () => {
  const app = await App.register(service);
  const query = new URLSearchParams({
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: REDIRECT_URI,
    code_challenge: await challengeOf(app.verifier),
    code_challenge_method: "S256",
  });
  const twice = await service.request(
    null,
    "GET",
    `/oauth/authorize?${query}&scope=files:read&scope=files:write`,
  );
  assertEquals(new URL(twice.headers.get("location") ?? "").searchParams.get("error"), "invalid_request");
  const other = encodeURIComponent("https://other.example.com/");
  const answer = await service.request(null, "GET", `/oauth/authorize?${query}&redirect_uri=${other}`);
  assertEquals([faultOf(answer), answer.headers.get("location")], [[400, "invalid_request"], null]);
});

test("a request that is in order leads to the console alone", async () => {
  const answer = await (await App.register(service)).authorize({ resource: `${base}/connect` });
  const address = new URL(answer.headers.get("location") ?? "");
  assertEquals(address.origin + address.pathname, `${service.stack.supabaseUrl}/console/authorize`);
  assertEquals([...address.searchParams.keys()], ["request"]);
  assertEquals(answer.headers.get("referrer-policy"), "no-referrer");
});

test("a code is for its client, its redirect URI, its verifier and its resource; what does not fit uses nothing up", async () => {
  const [app, other] = [await App.register(service), await App.register(service, { client_name: "Other" })];
  const code = await app.code(person);
  const wrong: Readonly<Record<string, string>>[] = [
    { client_id: other.clientId },
    { redirect_uri: `${REDIRECT_URI}/` },
    { code_verifier: app.verifier.replace(/.$/, "~") },
    { code_verifier: "short" },
    { code: code.replace(/.$/, (last) => last === "0" ? "1" : "0") },
  ];
  for (const others of wrong) {
    assertEquals(faultOf(await app.exchange(code, others)), [400, "invalid_grant"], JSON.stringify(others));
  }
  assertEquals(faultOf(await app.exchange(code, { resource: `${base}/mcp` })), [400, "invalid_target"]);
  assertEquals(faultOf(await app.exchange(code, { client_id: "nobody" })), [401, "invalid_client"]);
  tokensOf(await app.exchange(code, { resource: `${base}/connect` }));
});

test("a code that is used twice ends the app, unless the second one has not its verifier", async () => {
  const app = await App.register(service);
  const code = await app.code(person);
  const { access_token, refresh_token } = tokensOf(await app.exchange(code));
  const stolen = { code_verifier: crypto.randomUUID() + crypto.randomUUID() };
  assertEquals(faultOf(await app.exchange(code, stolen)), [400, "invalid_grant"]);
  assertEquals(await statusAt(access_token), 200);
  assertEquals(faultOf(await app.exchange(code)), [400, "invalid_grant"]);
  assertEquals(await statusAt(access_token), 401);
  assertEquals(faultOf(await app.refresh(refresh_token)), [400, "invalid_grant"]);
});

test("of two exchanges of one code at once one has tokens, and then they are void", async () => {
  const app = await App.register(service);
  const code = await app.code(person);
  const answers = await Promise.all([app.exchange(code), app.exchange(code)]);
  assertEquals(answers.map(({ status }) => status).toSorted(), [200, 400]);
  const [won] = answers.filter(({ status }) => status === 200).map(tokensOf);
  assertEquals(await statusAt(won?.access_token ?? ""), 401);
});

test("a code is worth nothing a minute later", async () => {
  const app = await App.register(service);
  const code = await app.code(person);
  await service.sql("update filestore.app_consents set expires_at = clock_timestamp() where used_at is null");
  assertEquals(faultOf(await app.exchange(code)), [400, "invalid_grant"]);
});

test("a refresh token is replaced at each use; for a short time its first use may be repeated, later that ends the app", async () => {
  const app = await App.register(service);
  const first = await app.connect(person);
  const second = tokensOf(await app.refresh(first.refresh_token));
  const again = tokensOf(await app.refresh(first.refresh_token));
  assertNotEquals(second.refresh_token, again.refresh_token);
  for (const { access_token } of [first, second, again]) assertEquals(await statusAt(access_token), 200);
  await service.sql(
    "update filestore.app_tokens set used_at = used_at - interval '31 seconds' where used_at is not null",
  );
  tokensOf(await app.refresh(again.refresh_token));
  assertEquals(faultOf(await app.refresh(first.refresh_token)), [400, "invalid_grant"]);
  for (const { access_token } of [first, second, again]) assertEquals(await statusAt(access_token), 401);
  assertEquals(faultOf(await app.refresh(second.refresh_token)), [400, "invalid_grant"]);
});

test("a refresh token is for its client, and for scopes that the app has", async () => {
  const [app, other] = [await App.register(service), await App.register(service, { client_name: "Other" })];
  const { refresh_token, access_token, scope } = await app.connect(person, { scopes: ["read"] });
  assertEquals(scope, "files:read");
  assertEquals(
    faultOf(await app.refresh(refresh_token, { client_id: other.clientId })),
    [400, "invalid_grant"],
  );
  assertEquals(faultOf(await app.refresh(refresh_token, { scope: "files:write" })), [400, "invalid_scope"]);
  assertEquals(faultOf(await app.refresh(refresh_token, { scope: "all" })), [400, "invalid_scope"]);
  assertEquals(faultOf(await app.refresh(access_token)), [400, "invalid_grant"]);
  assertEquals(tokensOf(await app.refresh(refresh_token, { scope: "files:read" })).scope, "files:read");
});

test("only the newest tokens of an app are kept, so that it can go on, also to the last second before its end", async () => {
  const app = await App.register(service);
  const expiresAt = new Date(Date.now() + 600_000).toISOString();
  let { refresh_token, access_token, expires_in } = await app.connect(person, { expiresAt });
  for (let n = 0; n < 60; n++) {
    ({ refresh_token, access_token, expires_in } = tokensOf(await app.refresh(refresh_token)));
  }
  assert(expires_in > 500 && expires_in <= 600, String(expires_in));
  assertEquals(await statusAt(access_token), 200);
  const [row] = await service.sql<{ count: number }>(
    "select count(*)::integer as count from filestore.app_tokens where expires_at = $1",
    [expiresAt],
  );
  assert((row?.count ?? 0) <= 100, String(row?.count));
});

test("requests for tokens are forms, with all that they need", async () => {
  const app = await App.register(service);
  for (
    const [fields, error] of [
      [{}, "invalid_request"],
      [{ grant_type: "password", username: "a", password: "b" }, "unsupported_grant_type"],
      [{ grant_type: "client_credentials" }, "unsupported_grant_type"],
      [{ grant_type: "authorization_code" }, "invalid_request"],
      [{ grant_type: "refresh_token" }, "invalid_request"],
    ] as const
  ) assertEquals(faultOf(await app.token({ ...fields })), [400, error]);
  const body = { grant_type: "refresh_token", client_id: app.clientId, refresh_token: "x" };
  assertEquals(
    faultOf(await service.request(null, "POST", "/oauth/token", { body })),
    [400, "invalid_request"],
  );
  const twice = form({ grant_type: "refresh_token", client_id: app.clientId, refresh_token: "x" });
  const repeated = { ...twice, body: `${twice.body}&refresh_token=y` };
  assertEquals(faultOf(await service.request(null, "POST", "/oauth/token", repeated)), [
    400,
    "invalid_request",
  ]);
  const large = form({ grant_type: "refresh_token", refresh_token: "x".repeat(20_000) });
  assertEquals(faultOf(await service.request(null, "POST", "/oauth/token", large)), [400, "invalid_request"]);
});

test("what is no access token of an app is 401 at /connect: keys, sessions, other secrets, tokens that have expired", async () => {
  const app = await App.register(service);
  const code = await app.code(person);
  const { access_token, refresh_token } = tokensOf(await app.exchange(code));
  const { key } = await person.createKey();
  const junk = access_token.replace(/.$/, (last) => last === "0" ? "1" : "0");
  for (const token of [key, person.token, refresh_token, code, junk, "x"]) {
    const answer = await connected(service, token).rpc("tools/list");
    assertRefused(answer, "INVALID_API_KEY");
    assertMatch(
      answer.headers.get("www-authenticate") ?? "",
      /^Bearer error="invalid_token", resource_metadata=/,
    );
  }
  assertRefused(await service.request(key, "POST", "/connect", { body: {} }), "INVALID_API_KEY");
  await service.sql(
    "update filestore.app_tokens set expires_at = clock_timestamp() where token_hash = sha256(convert_to($1, 'UTF8'))",
    [`token of an app: ${access_token}`],
  );
  assertEquals(await statusAt(access_token), 401);
});

test("however many tokens of one address are refused, the next is told the same", async () => {
  for (let n = 0; n <= ADDRESS_REQUESTS_PER_MINUTE; n++) {
    assertRefused(await connected(service, "x").rpc("tools/list", {}), "INVALID_API_KEY");
  }
  const unknown = `oaa_${"0".repeat(64)}`;
  assertRefused(await connected(service, unknown).rpc("tools/list", {}), "INVALID_API_KEY");
});

test("the answer to a request of consent has state and issuer, with the code or the refusal", async () => {
  const app = await App.register(service, { redirect_uris: [`${REDIRECT_URI}?a=b`] });
  const own = { redirect_uri: `${REDIRECT_URI}?a=b` };
  const yes = redirectOf(await answerRequest(person, await app.request(own))).searchParams;
  assertEquals([...yes.keys()], ["a", "code", "state", "iss"]);
  assertEquals([yes.get("state"), yes.get("iss")], ["as it was", base]);
  const refusal = { approve: false, projectId: undefined, scopes: undefined };
  const no = redirectOf(await answerRequest(person, await app.request(own), refusal)).searchParams;
  assertEquals([...no.entries()], [["a", "b"], ["error", "access_denied"], ["state", "as it was"], [
    "iss",
    base,
  ]]);
});
