/**
 * Attacks on apps that sign in: what a hostile app, page, browser or thief tries, and what it gets. The attacks on
 * documents of clients by DNS and addresses are in tests/unit/oauth/client_documents.test.ts.
 */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import {
  OAUTH_AUTHORIZATIONS_PER_MINUTE,
  OAUTH_REGISTRATIONS_PER_HOUR,
  OAUTH_TOKENS_PER_MINUTE,
} from "../../supabase/functions/api/limits.ts";
import { SignedRecords } from "../../supabase/functions/api/oauth/signed.ts";
import { type Account, owner, signUp } from "../support/client/accounts.ts";
import { assertRefused, dataOf, keyList } from "../support/client/contract.ts";
import {
  answerRequest,
  App,
  challengeOf,
  faultOf,
  form,
  oauthFault,
  readRequest,
  REDIRECT_URI,
  redirectOf,
  type Tokens,
  tokensOf,
} from "../support/client/oauth.ts";
import { privateSuite, test } from "../support/stack/suite.ts";

/** Documents of clients, at a host that the operator trusts, each by its path. */
const documents = new Map<string, (id: string) => Response>();
const host = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
  const answer = documents.get(new URL(url).pathname);
  return answer?.(url) ?? new Response(null, { status: 404 });
});
Deno.test.afterAll(() => host.shutdown());
const trusted = `127.0.0.1:${host.addr.port}`;

// A stack of its own: these requests are more than an address has in a minute, together with those of other files.
const { service } = await privateSuite({ functionVariables: { OUTBOUND_ALLOWED_HOSTS: trusted } });

const LOCAL = "http://127.0.0.1:1/back";
const INVALID_GRANT = [400, "invalid_grant"];

/** Whether the token still opens /connect. */
async function works({ access_token }: Pick<Tokens, "access_token">): Promise<boolean> {
  const headers = { authorization: `Bearer ${access_token}` };
  const body = { jsonrpc: "2.0", id: 1, method: "ping" };
  const { status } = await service.request(null, "POST", "/connect", { headers, body });
  assert(status === 200 || status === 401, `${status}`);
  return status === 200;
}

/** Lets the first use of each token be this much longer ago. */
async function passed(seconds: number): Promise<void> {
  await service.sql("update filestore.app_tokens set used_at = used_at - make_interval(secs => $1)", [
    seconds,
  ]);
}

test("open redirect: a person is sent nowhere but to a redirect URI that the client has to the letter", async () => {
  const app = await App.register(service, { redirect_uris: [REDIRECT_URI, LOCAL] });
  const others = [
    ..."https://evil.example/ //evil.example javascript:alert(1) data:text/html,a https://app.example.com/"
      .split(" "),
    ..."https://app.example.com/callback/ https://app.example.com/callback/.. https://app.example.com/callbackevil"
      .split(" "),
    ..."https://app.example.com/callback?next=https://evil.example https://app.example.com.evil.example/callback"
      .split(" "),
    ..."https://app.example.com@evil.example/callback https://evil@app.example.com/callback http://app.example.com/callback"
      .split(" "),
    ..."https://APP.example.com/callback https://app.example.com:8443/callback https://app.example.com/callback#a"
      .split(" "),
    ..."http://127.0.0.1:2/other http://127.0.0.1:2/back/ http://localhost:2/back http://127.0.0.1:2@evil.example/back"
      .split(" "),
    ..."http://127.0.0.1:2/x/../back http://127.0.0.1.evil.example:2/back http://[::1]:2/back https://127.0.0.1:1/back"
      .split(" "),
    ...["", " ", `${REDIRECT_URI} `, `${REDIRECT_URI}\r\nSet-Cookie: a=b`, `${REDIRECT_URI},${LOCAL}`],
  ];
  for (const [index, redirect_uri] of others.entries()) {
    // A fault would be sent back, were the address known.
    const answer = await app.authorize({ redirect_uri, ...index % 2 === 0 && { response_type: "token" } });
    assertEquals(
      [faultOf(answer), answer.headers.get("location")],
      [[400, "invalid_request"], null],
      redirect_uri,
    );
  }
  assertEquals(faultOf(await app.authorize({ redirect_uri: undefined })), [400, "invalid_request"]);
  for (
    const client_id of [
      undefined,
      "a",
      app.clientId.slice(1),
      `${app.clientId}A`,
      "https://evil.example/client.json",
    ]
  ) {
    const answer = await app.authorize({ client_id });
    assertEquals([answer.status, answer.headers.get("location")], [400, null], client_id);
  }
  const twice =
    `/oauth/authorize?client_id=${app.clientId}&redirect_uri=${REDIRECT_URI}&redirect_uri=https://evil.example/`;
  const answer = await service.request(null, "GET", twice);
  assertEquals([answer.status, answer.headers.get("location")], [400, null]);
  assertEquals((await app.authorize({ redirect_uri: "http://127.0.0.1:2/back" })).status, 302);
});

test("mix-up: each answer that goes to an app names the server, once and as its metadata does", async () => {
  const person = await owner(service);
  const app = await App.register(service);
  const { body } = await service.request(null, "GET", "/.well-known/openid-configuration");
  const { issuer } = z.looseObject({ issuer: z.string() }).parse(body);
  const answers = [
    redirectOf(await answerRequest(person, await app.request())),
    redirectOf(await answerRequest(person, await app.request(), { approve: false })),
    new URL((await app.authorize({ response_type: "token" })).headers.get("location") ?? ""),
    new URL((await app.authorize({ resource: "https://evil.example/" })).headers.get("location") ?? ""),
  ];
  for (const { searchParams } of answers) {
    assertEquals([searchParams.getAll("iss"), searchParams.getAll("state")], [[issuer], ["as it was"]]);
  }
  assertEquals(answers.map(({ searchParams }) => searchParams.get("error")), [
    null,
    "access_denied",
    "unsupported_response_type",
    "invalid_target",
  ]);
});

test("PKCE downgrade: no request without a challenge by S256, and no code without its verifier", async () => {
  const person = await owner(service);
  const app = await App.register(service);
  const downgrades: readonly Record<string, string | undefined>[] = [
    { code_challenge: undefined },
    { code_challenge: undefined, code_challenge_method: undefined },
    { code_challenge_method: undefined },
    { code_challenge_method: "plain" },
    { code_challenge_method: "plain", code_challenge: app.verifier },
    { code_challenge_method: "s256" },
    { code_challenge: "" },
    { code_challenge: "a" },
  ];
  for (const downgrade of downgrades) {
    const { searchParams } = new URL((await app.authorize(downgrade)).headers.get("location") ?? "");
    assertEquals([searchParams.get("error"), searchParams.get("code")], ["invalid_request", null]);
  }
  const code = await app.code(person);
  const challenge = await challengeOf(app.verifier);
  for (
    const code_verifier of [challenge, "", "a", app.verifier.slice(1), `${app.verifier}a`, "a".repeat(64)]
  ) {
    const [status, error] = faultOf(await app.exchange(code, { code_verifier }));
    assertEquals([status, /^invalid_(grant|request)$/.test(error)], [400, true], code_verifier);
  }
  // None of them has used it up.
  assertEquals(await works(tokensOf(await app.exchange(code))), true);
});

test("code injection: a code is of use to its client alone, at its redirect URI, with its verifier", async () => {
  const person = await owner(service);
  const app = await App.register(service);
  const thief = await App.register(service, { client_name: "Thief" });
  const code = await app.code(person);
  const stolen = await thief.code(await owner(service));
  const fields = { client_id: thief.clientId };
  assertEquals(faultOf(await app.exchange(code, fields)), INVALID_GRANT);
  assertEquals(faultOf(await thief.exchange(code)), INVALID_GRANT);
  assertEquals(faultOf(await thief.exchange(code, { code_verifier: app.verifier })), INVALID_GRANT);
  assertEquals(
    faultOf(await app.exchange(code, { redirect_uri: "https://app.example.com/other" })),
    INVALID_GRANT,
  );
  // A code of the thief's own grant, injected into the app's session: the app would write into a stranger's project.
  assertEquals(faultOf(await app.exchange(stolen)), INVALID_GRANT);
  assertEquals(await works(tokensOf(await app.exchange(code))), true);
});

test("code replay: a second use with the right verifier ends what the first one gave, with a wrong one nothing", async () => {
  const person = await owner(service);
  const app = await App.register(service);
  const code = await app.code(person);
  const first = tokensOf(await app.exchange(code));
  assertEquals(faultOf(await app.exchange(code, { code_verifier: "a".repeat(64) })), INVALID_GRANT);
  assertEquals(await works(first), true);
  assertEquals(faultOf(await app.exchange(code)), INVALID_GRANT);
  assertEquals(await works(first), false);
  assertEquals(faultOf(await app.refresh(first.refresh_token)), INVALID_GRANT);
  assertEquals(faultOf(await app.exchange(code)), INVALID_GRANT);
});

test("refresh replay: a token used twice ends the grant, but for 30 seconds in which its client may have lost the answer", async () => {
  const app = await App.register(service);
  const first = await app.connect(await owner(service));
  const second = tokensOf(await app.refresh(first.refresh_token));
  await passed(29);
  const again = tokensOf(await app.refresh(first.refresh_token));
  assertEquals(new Set([first, second, again].map(({ refresh_token }) => refresh_token)).size, 3);
  assertEquals([await works(second), await works(again)], [true, true]);
  await passed(2);
  // A thief who comes later ends the access of both, and so does the owner of a stolen token.
  assertEquals(faultOf(await app.refresh(first.refresh_token)), INVALID_GRANT);
  for (const tokens of [first, second, again]) {
    assertEquals([await works(tokens), faultOf(await app.refresh(tokens.refresh_token))], [
      false,
      INVALID_GRANT,
    ]);
  }
});

test("refresh theft: another client has no use for a token, can end nothing, and no token serves as another kind", async () => {
  const app = await App.register(service);
  const thief = await App.register(service, { client_name: "Thief" });
  const tokens = await app.connect(await owner(service));
  assertEquals(faultOf(await thief.refresh(tokens.refresh_token)), INVALID_GRANT);
  for (const token of [tokens.access_token, tokens.refresh_token]) {
    assertEquals((await thief.revoke(token)).status, 200);
  }
  assertEquals(faultOf(await app.refresh(tokens.access_token)), INVALID_GRANT);
  assertEquals(faultOf(await app.exchange(tokens.refresh_token)), INVALID_GRANT);
  assertEquals(await works({ access_token: tokens.refresh_token }), false);
  assertEquals(await works(tokens), true);
  // An app that may read asks for no more later.
  const reader = await app.connect(await owner(service), { scopes: ["read"] });
  assertEquals(reader.scope, "files:read");
  const more = { scope: "files:read files:write" };
  assertEquals(faultOf(await app.refresh(reader.refresh_token, more)), [400, "invalid_scope"]);
});

test("a token opens /connect alone, and no key, console or session opens /connect", async () => {
  const person = await owner(service);
  const app = await App.register(service);
  const { access_token: access, refresh_token: refresh } = await app.connect(person);
  const code = await app.code(person);
  const mcp = { jsonrpc: "2.0", id: 1, method: "ping" };
  for (const secret of [access, refresh, code]) {
    for (const headers of [{ "x-api-key": secret }, { authorization: `Bearer ${secret}` }]) {
      const about = { ...headers, "x-project-id": person.projectId };
      const statuses = await Promise.all([
        service.request(null, "GET", "/files", { headers }),
        service.request(null, "POST", "/mcp", { headers, body: mcp }),
        service.request(null, "GET", "/project", { headers: about }),
        service.request(null, "GET", "/project/apikeys", { headers: about }),
        service.request(null, "GET", "/account", { headers }),
      ]);
      assertEquals(statuses.map(({ status }) => status), statuses.map(() => 401));
    }
  }
  const { key } = await person.createKey();
  const others = [
    ...[key, person.token, service.stack.secretKey, service.stack.publishableKey].map((secret) => ({
      authorization: `Bearer ${secret}`,
    })),
    ...[key, access].map((secret) => ({ "x-api-key": secret })),
    {},
  ];
  for (const headers of others) {
    const answer = await service.request(null, "POST", "/connect", { headers, body: mcp });
    assertEquals(answer.status, 401, JSON.stringify(headers));
  }
});

test("an app cannot let itself in: only the person's own token answers, and only within what was asked", async () => {
  const person = await owner(service);
  const stranger = await owner(service);
  const app = await App.register(service);
  const { access_token } = await app.connect(person);
  const request = await app.request({ scope: "files:read" });
  const { key } = await person.createKey();
  const body = { request, approve: true, projectId: person.projectId, scopes: ["read"] };
  const credentials = [
    {},
    { "x-api-key": key },
    ...[access_token, key, request].map((secret) => ({
      authorization: `Bearer ${secret}`,
    })),
  ];
  for (const headers of credentials) {
    // A page that was made for it has no token, and the service has no cookies.
    for (
      const cookie of [{}, { cookie: `sb-access-token=${person.token}`, origin: "https://evil.example" }]
    ) {
      const answer = await service.request(null, "POST", "/oauth/consent", {
        body,
        headers: { ...headers, ...cookie },
      });
      assertEquals(answer.status, 401);
      const shown = await service.request(null, "GET", `/oauth/requests/${request}`, {
        headers: { ...headers, ...cookie },
      });
      assertEquals(shown.status, 401);
    }
  }
  for (const scopes of [["read", "write"], ["write"], ["admin"], ["read", "admin"], []]) {
    assertRefused(await answerRequest(person, request, { scopes }), "VALIDATION_ERROR");
  }
  for (const projectId of [stranger.projectId, crypto.randomUUID()]) {
    assertRefused(
      await answerRequest(person, request, { scopes: ["read"], projectId }),
      "PROJECT_NOT_FOUND",
    );
  }
  assertEquals((await answerRequest(person, request, { scopes: ["read"] })).status, 200);
});

test("a request is answered once, by the person who comes first", async () => {
  const [person, other] = [await owner(service), await owner(service)];
  const app = await App.register(service);
  const request = await app.request();
  await readRequest(person, request);
  const answers = await Promise.all([person, other, person, other].map((one) => answerRequest(one, request)));
  assertEquals(answers.map(({ status }) => status).toSorted(), [200, 404, 404, 404]);
  for (const approve of [true, false]) {
    assertRefused(await answerRequest(person, request, { approve }), "REQUEST_NOT_FOUND");
  }
  assertRefused(await person.request("GET", `/oauth/requests/${request}`), "REQUEST_NOT_FOUND");

  const denied = await app.request();
  assertEquals((await answerRequest(person, denied, { approve: false })).status, 200);
  assertRefused(await answerRequest(person, denied), "REQUEST_NOT_FOUND");
  assertEquals((await keysOf(person)).length + (await keysOf(other)).length, 1);
});

async function keysOf(account: Account) {
  return dataOf(await account.request("GET", "/project/apikeys"), "list_api_keys", keyList).keys;
}

test("signed records: one kind is no other, a changed one is none, and a request is over after ten minutes", async () => {
  const person = await owner(service);
  const app = await App.register(service);
  const request = await app.request();
  const [content = "", mac = ""] = request.split(".");
  const records = new SignedRecords(service.stack.secretKey);
  const record = z.looseObject({ expiresAt: z.number() }).parse(await records.read("request", request));
  const tenMinutes = record.expiresAt - Date.now();
  assert(tenMinutes > 590_000 && tenMinutes <= 600_000);
  const [, ofClient] = app.clientId.split(".");
  const wider = new TextDecoder().decode(Uint8Array.fromBase64(content, { alphabet: "base64url" })).replace(
    "app.example.com",
    "evil.example",
  );
  const forged = [
    app.clientId,
    `${content}.${ofClient}`,
    `${new TextEncoder().encode(wider).toBase64({ alphabet: "base64url", omitPadding: true })}.${mac}`,
    await records.sign("client", record),
    await new SignedRecords("another secret").sign("request", record),
    await records.sign("request", { ...record, expiresAt: Date.now() - 1 }),
    "",
    "a".repeat(8_000),
  ];
  for (const other of forged) {
    const answer = await answerRequest(person, other);
    assertRefused(answer, "REQUEST_NOT_FOUND");
  }
  for (
    const client_id of [request, await records.sign("request", { name: "a", redirectUris: [REDIRECT_URI] })]
  ) {
    const answer = await app.authorize({ client_id });
    assertEquals([answer.status, answer.headers.get("location")], [400, null]);
    assertEquals(faultOf(await app.token({ client_id, grant_type: "refresh_token", refresh_token: "a" })), [
      401,
      "invalid_client",
    ]);
  }
  // Copied by a person who is not asked: each answers for their own project.
  assertEquals(
    (await answerRequest(await signUp(service), request, { projectId: person.projectId })).status,
    404,
  );
  assertEquals((await answerRequest(person, request)).status, 200);
});

test("a name that imitates: no hidden characters, one line, 100 characters, and the host that gets the code beside it", async () => {
  const person = await owner(service);
  const markup = '<img src=x onerror="alert(1)">';
  const names = [
    ["Claude\u202e (verified)\u2066", "Claude (verified)", REDIRECT_URI, "app.example.com"],
    ["C\u200bl\u00adaude\n\n\nYour operator", "Claude Your operator", LOCAL, ""],
    ["a".repeat(500), "a".repeat(100), "cursor://claude.ai/back", ""],
    [markup, markup, "https://xn--80ak6aa92e.com/back", "xn--80ak6aa92e.com"],
    [
      "https://claude.ai",
      "https://claude.ai",
      "https://claude.ai.evil.example/back",
      "claude.ai.evil.example",
    ],
  ];
  for (const [client_name, name, redirect_uri = "", host] of names) {
    const app = await App.register(service, { client_name, redirect_uris: [redirect_uri] });
    const request = await app.request({ redirect_uri });
    const { client } = await readRequest(person, request);
    assertEquals([client.name, client.host], [name, host]);
    await answerRequest(person, request);
  }
  const apps = (await keysOf(person)).filter(({ kind }) => kind === "app");
  const shown = names.map(([, name, , host]) => `${name} at ${host}`);
  assertEquals(apps.map(({ client }) => `${client?.name} at ${client?.host}`).toSorted(), shown.toSorted());
});

test("floods: each address has so many requests of apps, nothing is stored, and other addresses go on", async () => {
  const app = await App.register(service);
  const before = await service.tables();
  const json = { method: "POST", body: JSON.stringify({ redirect_uris: [REDIRECT_URI] }) };
  const token = { grant_type: "password" };
  const floods: readonly (readonly [path: string, most: number, status: number, init: RequestInit])[] = [
    ["/oauth/register", OAUTH_REGISTRATIONS_PER_HOUR, 201, json],
    [`/oauth/authorize?client_id=${app.clientId}`, OAUTH_AUTHORIZATIONS_PER_MINUTE, 400, {}],
    ["/oauth/token", OAUTH_TOKENS_PER_MINUTE, 400, { method: "POST", body: new URLSearchParams(token) }],
  ];
  await service.withBareFunction(async (origin) => {
    for (const [path, most, status, init] of floods) {
      const send = async (address: string) => {
        const response = await fetch(origin + path, { ...init, headers: { "cf-connecting-ip": address } });
        const body: unknown = await response.json();
        return [response.status, oauthFault.safeParse(body).data?.error, response.headers.has("retry-after")];
      };
      let [answered, last] = [0, await send("203.0.113.81")];
      for (; last[0] === status && answered <= 2 * most; last = await send("203.0.113.81")) answered++;
      // Unless a new minute began meanwhile.
      assert(answered >= most, `${path}: ${answered}`);
      assertEquals(last, [429, "temporarily_unavailable", true], path);
      assertEquals((await send("203.0.113.82"))[0], status, path);
    }
  }, { CONSOLE_URL: "http://127.0.0.1/console" });
  assertEquals(await service.tables(), before);
  assertEquals(floods.map(([, most]) => most), [600, 120, 600]);
});

test("registration takes no redirect URI that a browser runs, and no page elsewhere without TLS", async () => {
  const uris =
    "javascript:alert(1) data:text/html,a http://app.example/ file:///a https://a/#b https://user@a/".split(
      " ",
    );
  for (const uri of uris) {
    const body = { redirect_uris: [REDIRECT_URI, uri] };
    const answer = await service.request(null, "POST", "/oauth/register", { body });
    assertEquals(faultOf(answer), [400, "invalid_redirect_uri"], uri);
  }
  // Larger than any description: it is not kept in memory.
  const body = { redirect_uris: [REDIRECT_URI], client_name: "a".repeat(100_000) };
  assertEquals((await service.request(null, "POST", "/oauth/register", { body })).status, 400);
  const options = form({ grant_type: "refresh_token", refresh_token: "a".repeat(100_000), client_id: "a" });
  assertEquals((await service.request(null, "POST", "/oauth/token", options)).status, 400);
});

test("documents of clients: a redirect, another client's id, and a host that is not trusted describe no client", async () => {
  const { body } = await service.request(null, "GET", "/.well-known/oauth-authorization-server");
  const fields = z.looseObject({ client_id_metadata_document_supported: z.boolean() }).parse(body);
  assertEquals(fields.client_id_metadata_document_supported, true);

  const person = await owner(service);
  const document = (client_id: string) =>
    Response.json({ client_id, client_name: "Described\u202e app", redirect_uris: [REDIRECT_URI, LOCAL] });
  documents.set("/client.json", document);
  documents.set("/moved.json", () => Response.redirect(`http://${trusted}/client.json`));
  documents.set("/other.json", () => document(`http://${trusted}/client.json`));
  documents.set(
    "/page.html",
    (id) => new Response(document(id).body, { headers: { "content-type": "text/html" } }),
  );
  const app = await App.register(service);
  const { port } = new URL(service.stack.supabaseUrl);
  const none = [
    ...["moved.json", "other.json", "page.html", "absent.json", "", "client.json#a", "./client.json"].map((
      path,
    ) => `http://${trusted}/${path}`),
    ...[
      `http://localhost:${host.addr.port}/client.json`,
      `https://${trusted}/client.json`,
      `http://127.0.0.1:${port}/health`,
    ],
    ..."https://localhost/a https://127.0.0.1/a https://[::1]/a https://169.254.169.254/latest https://10.0.0.1/a"
      .split(" "),
  ];
  for (const client_id of none) {
    const answer = await app.authorize({ client_id });
    assertEquals(
      [faultOf(answer), answer.headers.get("location")],
      [[400, "invalid_client"], null],
      client_id,
    );
  }

  const client_id = `http://${trusted}/client.json`;
  const shown = [];
  for (const redirect_uri of [REDIRECT_URI, LOCAL]) {
    const request = await app.request({ client_id, redirect_uri });
    shown.push((await readRequest(person, request)).client);
  }
  // Of the host that gets the code: anybody may have a document at a host that lets people upload files.
  const hosts = [new URL(REDIRECT_URI).host, ""];
  assertEquals(shown, hosts.map((host) => ({ id: client_id, name: "Described app", host })));
  const request = await app.request({ client_id });
  const code = redirectOf(await answerRequest(person, request)).searchParams.get("code") ?? "";
  assertEquals(faultOf(await app.exchange(code)), INVALID_GRANT);
  assertEquals(await works(tokensOf(await app.exchange(code, { client_id }))), true);
});
