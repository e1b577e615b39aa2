/** An app in the list of keys, and the ends of its access: each is in force at the app's next call. */
import { assert, assertEquals } from "@std/assert";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { type Account, claimsOf, owner, signIn, signUp } from "../support/client/accounts.ts";
import { assertRefused, type Code, dataOf, keyList, keyRecord } from "../support/client/contract.ts";
import { App, connected, faultOf, type Tokens, tokensOf } from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const administration = new Administration(service.stack.backendUrl, service.stack.secretKey);

async function keysOf(person: Account) {
  return dataOf(await person.request("GET", "/project/apikeys"), "list_api_keys", keyList).keys;
}

/** A new project with one app in it. */
async function letIn(consent: Record<string, unknown> = {}) {
  const person = await owner(service);
  const app = await App.register(service);
  const tokens = await app.connect(person, consent);
  const call = () => connected(service, tokens.access_token).rpc("tools/list");
  assertEquals((await call()).status, 200, "the isolate remembers the app");
  const [{ id } = { id: "" }] = await keysOf(person);
  return { person, app, tokens, call, id };
}
type In = Awaited<ReturnType<typeof letIn>>;

const sql = (statement: string) => async ({ person }: In) => {
  await service.sql(statement, [person.projectId]);
};
const account = (change: string) => async ({ person }: In) => {
  await service.sql(`${change} where id = $1`, [claimsOf(person.token)["sub"]]);
};
/** The answer at /connect after each end, and whether the app still gets tokens. */
const ENDS: readonly (readonly [string, (given: In) => Promise<unknown>, Code, boolean?])[] = [
  [
    "is revoked in the list",
    ({ person, id }) => person.request("DELETE", `/project/apikeys/${id}`),
    "INVALID_API_KEY",
  ],
  ["revokes its access token", ({ app, tokens }) => app.revoke(tokens.access_token), "INVALID_API_KEY"],
  ["revokes its refresh token", ({ app, tokens }) => app.revoke(tokens.refresh_token), "INVALID_API_KEY"],
  [
    "is disconnected by the operator",
    ({ person }) => administration.disconnectApps(person.projectId),
    "INVALID_API_KEY",
  ],
  [
    "has reached its end",
    sql("update filestore.api_keys set expires_at = clock_timestamp() where project_id = $1"),
    "INVALID_API_KEY",
  ],
  [
    "was let into a project that is deleted",
    ({ person }) => person.request("DELETE", "/project?confirm=My%20project"),
    "INVALID_API_KEY",
  ],
  [
    "was let in by an account that is deleted with its projects",
    ({ person }) => person.request("DELETE", `/account?confirm=${claimsOf(person.token)["email"]}`),
    "INVALID_API_KEY",
  ],
  [
    "was let into a project that now belongs to nobody",
    sql("update filestore.projects set owner_id = null where id = $1"),
    "INVALID_API_KEY",
  ],
  [
    "was let into a project that is suspended",
    sql("update filestore.projects set suspended_at = now() where id = $1"),
    "FORBIDDEN_SCOPE",
    true,
  ],
  [
    "was let in by an account that Auth has removed",
    account("delete from auth.users"),
    "FORBIDDEN_SCOPE",
    true,
  ],
  [
    "was let in by an account that is banned",
    account("update auth.users set banned_until = now() + interval '1 hour'"),
    "FORBIDDEN_SCOPE",
    true,
  ],
];

for (const [end, happens, code, mayRefresh = false] of ENDS) {
  test(`an app that ${end} is refused at its next call${mayRefresh ? "" : ", and gets no new tokens"}`, async () => {
    const given = await letIn();
    await happens(given);
    assertRefused(await given.call(), code);
    const refreshed = await given.app.refresh(given.tokens.refresh_token);
    if (!mayRefresh) return assertEquals(faultOf(refreshed), [400, "invalid_grant"]);
    assertRefused(await connected(service, tokensOf(refreshed).access_token).rpc("tools/list"), code);
  });
}

test("an app ends when its project gets another owner, also for the time when the first one has it again", async () => {
  const { person, app, tokens, call } = await letIn();
  const next = await signUp(service);
  const giveTo = (account: Account) =>
    administration.updateProject(person.projectId, { owner: String(claimsOf(account.token)["email"]) });
  await giveTo(next);
  assertRefused(await call(), "INVALID_API_KEY");
  assertEquals(faultOf(await app.refresh(tokens.refresh_token)), [400, "invalid_grant"]);
  assert((await keysOf(next.about(person.projectId))).every(({ revokedAt }) => revokedAt !== null));
  await giveTo(person);
  assertRefused(await call(), "INVALID_API_KEY");
});

test("a code is worth nothing once its app was revoked, or its project has another owner", async () => {
  for (
    const change of [
      "update filestore.api_keys set revoked_at = now() where project_id = $1",
      "update filestore.projects set owner_id = gen_random_uuid() where id = $1",
    ]
  ) {
    const person = await owner(service);
    const app = await App.register(service);
    const code = await app.code(person);
    await service.sql(change, [person.projectId]);
    assertEquals(faultOf(await app.exchange(code)), [400, "invalid_grant"]);
  }
});

test("an app outlives the session in which the person let it in", async () => {
  const { person, call } = await letIn();
  await service.sql("delete from auth.sessions where user_id = $1", [claimsOf(person.token)["sub"]]);
  assertEquals((await call()).status, 200);
});

test("another client's request to revoke changes nothing, and an unknown token is 200", async () => {
  const { app, tokens, call } = await letIn();
  const other = await App.register(service, { client_name: "Other" });
  for (const token of [tokens.access_token, tokens.refresh_token, "unknown"]) {
    assertEquals((await other.revoke(token)).status, 200);
  }
  assertEquals((await app.revoke("unknown", { token_type_hint: "refresh_token" })).status, 200);
  assertEquals((await call()).status, 200);
});

test("each consent is an app of its own: the end of one leaves the other", async () => {
  const { person, app, tokens, call } = await letIn();
  const second: Tokens = await app.connect(person);
  assertEquals((await app.revoke(second.refresh_token)).status, 200);
  assertEquals((await call()).status, 200);
  assertEquals(tokensOf(await app.refresh(tokens.refresh_token)).token_type, "Bearer");
});

test("the list shows an app with its client and last use; its name and end can be changed, and nothing else", async () => {
  const { person, call, id } = await letIn({ scopes: ["read"], pathPrefix: "notes" });
  await person.createKey({ name: "a key" });
  const [key, listed] = await keysOf(person);
  assertEquals([key?.kind, key?.client], ["key", undefined]);
  assertEquals(
    [
      listed?.id,
      listed?.kind,
      listed?.name,
      listed?.client,
      listed?.scopes,
      listed?.pathPrefix,
      listed?.prefix,
    ],
    [id, "app", "Test app", { name: "Test app", host: "app.example.com" }, ["read"], "notes", ""],
  );
  assert(listed?.lastUsedAt);
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const change = (body: Record<string, unknown>) =>
    person.request("PATCH", `/project/apikeys/${id}`, { body });
  const changed = dataOf(await change({ name: "Renamed", expiresAt }), "update_api_key", keyRecord);
  assertEquals([changed.name, changed.expiresAt, changed.client?.name], ["Renamed", expiresAt, "Test app"]);
  for (const body of [{ pathPrefix: "notes/drafts" }, { scopes: ["write"] }]) {
    assertRefused(await change(body), "VALIDATION_ERROR");
  }
  assertRefused(await person.request("POST", `/project/apikeys/${id}/rotate`), "VALIDATION_ERROR");
  assertEquals((await call()).status, 200);
});

test("what is done with a project's newest key, or with those of a name, leaves its apps alone", async () => {
  const { person, call } = await letIn();
  const first = await person.request("POST", "/project/apikey/regenerate");
  assertEquals(Object(first.body).data.replaced, null);
  const grace = { name: "Test app" };
  await administration.createKey(person.projectId, "Test app", {
    hash: "ab".repeat(32),
    prefix: "oa_1234567",
  }, { ...grace, graceSeconds: 0 });
  assertEquals((await call()).status, 200);
});

test("the sweep ends an app that was not used for 90 days, and removes what has expired", async () => {
  const [unused, used] = [await letIn(), await letIn()];
  const days = (count: number) => `now() - interval '${count} days'`;
  const set = (given: In, fields: string) =>
    service.sql(`update filestore.api_keys set ${fields} where project_id = $1`, [given.person.projectId]);
  await set(unused, `created_at = ${days(100)}, last_used_at = ${days(91)}`);
  await set(used, `created_at = ${days(100)}, last_used_at = ${days(89)}`);
  const expire = (given: In) =>
    service.sql(
      "update filestore.app_tokens set expires_at = now() - interval '1 second' where project_id = $1",
      [
        given.person.projectId,
      ],
    );
  await expire(unused);
  await service.sql("update filestore.app_consents set expires_at = now() - interval '25 hours'");
  await service.sql("select public.filestore_sweep_next()");
  const count = async (table: string, given: In) =>
    (await service.sql(`select from filestore.${table} where project_id = $1`, [given.person.projectId]))
      .length;
  assertEquals([await count("app_tokens", unused), await count("app_tokens", used)], [0, 2]);
  assertEquals(await count("app_consents", used), 0);
  assertEquals((await keysOf(unused.person)).map(({ revokedAt }) => revokedAt === null), [false]);
  assertEquals((await keysOf(used.person)).map(({ revokedAt }) => revokedAt === null), [true]);
  assertEquals((await used.call()).status, 200);
});

test("what an app has written names it in the history, and its links end with it", async () => {
  const { person, tokens, id } = await letIn();
  const agent = connected(service, tokens.access_token);
  await agent.call("write_file", { path: "a.txt", content: "by the app" });
  const { body } = await person.request("GET", "/files/a.txt?versions");
  assertEquals(Object(body).data.versions[0].keyId, id);
  const text = await agent.call("create_link", { path: "a.txt", for: "download" });
  const [, token = ""] = /\/l\/([\w-]+)/.exec(text) ?? [];
  const read = () => service.request(null, "GET", `/l/${token}`);
  assertEquals((await read()).status, 200);
  await person.request("DELETE", `/project/apikeys/${id}`);
  assertRefused(await read(), "LINK_EXPIRED");
});

test("a session that has ended lets nobody in", async () => {
  const person = await owner(service);
  const second = (await signIn(person)).about(person.projectId);
  const app = await App.register(service);
  const request = await app.request();
  await service.sql("delete from auth.sessions where user_id = $1", [claimsOf(person.token)["sub"]]);
  const body = { request, approve: true, projectId: person.projectId, scopes: ["read"] };
  for (const one of [person, second]) {
    assertRefused(await one.request("POST", "/oauth/consent", { body }), "INVALID_SESSION");
    assertRefused(await one.request("GET", `/oauth/requests/${request}`), "INVALID_SESSION");
  }
});
