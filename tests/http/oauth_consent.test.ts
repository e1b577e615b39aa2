/** A person's consent: what it shows, what it can allow, and that each request is answered once. */
import { assert, assertEquals } from "@std/assert";
import { SignedRecords } from "../../supabase/functions/api/oauth/signed.ts";
import { owner, signUp } from "../support/client/accounts.ts";
import { assertRefused, issuePaths } from "../support/client/contract.ts";
import {
  answerRequest,
  App,
  connected,
  readRequest,
  REDIRECT_URI,
  redirectOf,
} from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const person = await owner(service);
const app = await App.register(service);

/** Hidden and bidirectional characters, markup, and 500 characters. */
const IMITATION = `\u202eGoogle\u200b <b>Drive</b>\n${"x".repeat(500)}`;

test("a signed-in person sees who asks for what; a name cannot imitate by hidden characters or length", async () => {
  const { client, scopes, resource, expiresAt } = await readRequest(
    person,
    await app.request({ scope: "files:read" }),
  );
  assertEquals(client, { id: app.clientId, name: "Test app", host: "app.example.com" });
  assertEquals([scopes, resource], [["read"], `${service.baseUrl}/connect`]);
  const minutes = (Date.parse(expiresAt) - Date.now()) / 60_000;
  assert(minutes > 9 && minutes <= 10, expiresAt);
  const imitator = await App.register(service, { client_name: IMITATION });
  const shown = await readRequest(person, await imitator.request());
  assertEquals(shown.client.name.slice(0, 21), "Google <b>Drive</b> x");
  assertEquals(shown.client.name.length, 100);
  const device = await App.register(service, { redirect_uris: ["cursor://callback"] });
  assertEquals(
    (await readRequest(person, await device.request({ redirect_uri: "cursor://callback" }))).client.host,
    "",
  );
});

test("a request that is unknown, changed or expired is 404 to a person, and 401 to nobody", async () => {
  const request = await app.request();
  const records = new SignedRecords(service.secrets.secretKey);
  const record = { ...Object(await records.read("request", request)) };
  const expired = await records.sign("request", { ...record, expiresAt: Date.now() - 1 });
  const changed = request.replace(/^../, "xx");
  for (const text of ["x", changed, expired, app.clientId]) {
    assertRefused(await person.request("GET", `/oauth/requests/${text}`), "REQUEST_NOT_FOUND");
    assertRefused(await answerRequest(person, text), "REQUEST_NOT_FOUND");
    assertRefused(await service.request(null, "GET", `/oauth/requests/${text}`), "INVALID_SESSION");
  }
});

test("consent gives at most what was asked for, never admin, and only for one's own project", async () => {
  const request = await app.request({ scope: "files:read" });
  for (
    const [consent, field] of [
      [{ scopes: ["read", "write"] }, "scopes"],
      [{ scopes: ["admin"] }, "scopes"],
      [{ scopes: ["read", "admin"] }, "scopes"],
      [{ scopes: [] }, "scopes"],
      [{ scopes: undefined }, "scopes"],
      [{ projectId: undefined }, "projectId"],
      [{ pathPrefix: "../up" }, "pathPrefix"],
      [{ expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
      [{ admin: true }, "admin"],
    ] as const
  ) {
    const answer = await answerRequest(person, request, { scopes: ["read"], ...consent });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), [field], answer.text);
  }
  const stranger = await owner(service);
  const others = await answerRequest(person, request, { scopes: ["read"], projectId: stranger.projectId });
  assertRefused(others, "PROJECT_NOT_FOUND");
  assertEquals(
    (await answerRequest(person, request, { scopes: ["read"] })).status,
    200,
    "nothing was used up",
  );
});

test("a request is answered once, whatever the answer, and whichever person gives it", async () => {
  for (const approve of [true, false]) {
    const request = await app.request();
    assertEquals((await answerRequest(person, request, { approve })).status, 200);
    assertRefused(await person.request("GET", `/oauth/requests/${request}`), "REQUEST_NOT_FOUND");
    for (const again of [true, false]) {
      assertRefused(await answerRequest(person, request, { approve: again }), "REQUEST_NOT_FOUND");
    }
    const stranger = await owner(service);
    assertRefused(await stranger.request("GET", `/oauth/requests/${request}`), "REQUEST_NOT_FOUND");
    assertRefused(await answerRequest(stranger, request), "REQUEST_NOT_FOUND");
  }
  const request = await app.request();
  const answers = await Promise.all([1, 2, 3].map(() => answerRequest(person, request)));
  assertEquals(answers.map(({ status }) => status).toSorted(), [200, 404, 404]);
});

test("a person who refuses lets nothing into any project", async () => {
  const other = await owner(service);
  const answer = await answerRequest(other, await app.request(), { approve: false });
  assertEquals(redirectOf(answer).searchParams.get("error"), "access_denied");
  const { body } = await other.request("GET", "/project/apikeys");
  assertEquals(Object(body).data, { keys: [] });
});

test("only a person's own token can consent: no key, no app, nobody", async () => {
  const { key } = await person.createKey({ scopes: ["read", "write", "admin"] });
  const { access_token } = await app.connect(person);
  const request = await app.request();
  const body = { request, approve: true, projectId: person.projectId, scopes: ["read"] };
  for (
    const headers of [
      {},
      { "x-api-key": key },
      ...[key, access_token].map((token) => ({
        authorization: `Bearer ${token}`,
      })),
    ]
  ) {
    const answer = await service.request(null, "POST", "/oauth/consent", { body, headers });
    assertRefused(answer, "INVALID_SESSION");
  }
  // A crafted page sends a form, and has no token: nothing here reads cookies.
  const form = {
    body: "request=x&approve=true",
    headers: { "content-type": "text/plain", cookie: "token=x" },
  };
  assertRefused(await service.request(null, "POST", "/oauth/consent", form), "INVALID_SESSION");
  await readRequest(person, request);
});

test("a suspended project takes no app, and 100 of them are the limit, apart from that of keys", async () => {
  const other = await owner(service);
  await service.sql("update filestore.projects set suspended_at = now() where id = $1", [other.projectId]);
  assertRefused(await answerRequest(other, await app.request()), "FORBIDDEN_SCOPE");
  await service.sql("update filestore.projects set suspended_at = null where id = $1", [other.projectId]);
  const { access_token } = await app.connect(other);
  await service.sql(
    `insert into filestore.api_keys (project_id, kind, prefix, key_hash, account_id, client_hash, client_name, client_host)
     select project_id, kind, prefix, sha256(convert_to(n || id::text, 'UTF8')), account_id, client_hash, client_name,
            client_host
     from filestore.api_keys, generate_series(1, 99) n where project_id = $1`,
    [other.projectId],
  );
  const request = await app.request();
  assertRefused(await answerRequest(other, request), "KEY_LIMIT_REACHED");
  const { key } = await other.createKey();
  assertEquals((await service.request(key, "GET", "/files")).status, 200);
  assertEquals((await connected(service, access_token).rpc("tools/list")).status, 200);
  await service.sql("delete from filestore.api_keys where project_id = $1 and last_used_at is null", [
    other.projectId,
  ]);
  assertEquals((await answerRequest(other, request)).status, 200);
});

test("a person without a project can refuse, and consent to nothing", async () => {
  const newcomer = await signUp(service);
  const request = await app.request();
  const projectId = crypto.randomUUID();
  assertRefused(await answerRequest(newcomer, request, { projectId }), "PROJECT_NOT_FOUND");
  const refusal = await answerRequest(newcomer, request, { approve: false, projectId: undefined });
  assertEquals(redirectOf(refusal).href.startsWith(REDIRECT_URI), true);
});
