/** What an app may do: at /connect, what a key with its rights may do at /mcp; anywhere else, nothing. */
import { assert, assertEquals } from "@std/assert";
import { ENTRIES } from "../../supabase/functions/api/routes/mod.ts";
import { TOOLS } from "../../supabase/functions/api/mcp/tools/mod.ts";
import { type Account, owner } from "../support/client/accounts.ts";
import { apiAt } from "../support/client/api.ts";
import { rateOf } from "../support/client/contract.ts";
import { Agent, ERAS } from "../support/client/mcp.ts";
import { answerRequest, App, connected, form } from "../support/client/oauth.ts";
import { NO_OBJECTS, trafficOf } from "../support/client/traffic.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const ID = "d0000000-0000-4000-8000-000000000000";

/** For each route: the answer to an app's token, and to that of a person, who names a project. */
const ROUTES = `
GET /health                                  | 200                         | 200
POST /files                                  | 401 INVALID_API_KEY         | 400 INVALID_JSON
GET /files                                   | 401 INVALID_API_KEY         | 200
GET /files/*                                 | 401 INVALID_API_KEY         | 404 FILE_NOT_FOUND
DELETE /files/*                              | 401 INVALID_API_KEY         | 404 FILE_NOT_FOUND
POST /files/redact/*                         | 401 INVALID_API_KEY         | 400 INVALID_JSON
PUT /files/append/*                          | 401 INVALID_API_KEY         | 400 INVALID_JSON
PUT /files/overwrite/*                       | 401 INVALID_API_KEY         | 400 INVALID_JSON
PUT /files/edit/*                            | 401 INVALID_API_KEY         | 400 INVALID_JSON
PUT /files/restore/*                         | 401 INVALID_API_KEY         | 400 INVALID_JSON
PUT /files/copy/*                            | 401 INVALID_API_KEY         | 400 INVALID_JSON
PUT /files/move/*                            | 401 INVALID_API_KEY         | 400 INVALID_JSON
GET /diff/*                                  | 401 INVALID_API_KEY         | 404 FILE_NOT_FOUND
GET /export                                  | 401 INVALID_API_KEY         | 404 FILE_NOT_FOUND
POST /folders/copy                           | 401 INVALID_API_KEY         | 400 INVALID_JSON
POST /folders/move                           | 401 INVALID_API_KEY         | 400 INVALID_JSON
DELETE /folders/*                            | 401 INVALID_API_KEY         | 404 FILE_NOT_FOUND
POST /branches                               | 401 INVALID_API_KEY         | 400 INVALID_JSON
GET /branches                                | 401 INVALID_API_KEY         | 200
GET /branches/:name                          | 401 INVALID_API_KEY         | 404 BRANCH_NOT_FOUND
PATCH /branches/:name                        | 401 INVALID_API_KEY         | 400 INVALID_JSON
POST /branches/:name/merge                   | 401 INVALID_API_KEY         | 404 BRANCH_NOT_FOUND
POST /branches/:name/update                  | 401 INVALID_API_KEY         | 404 BRANCH_NOT_FOUND
POST /runs/:runId/undo                       | 401 INVALID_API_KEY         | 404 RUN_NOT_FOUND
POST /restore                                | 401 INVALID_API_KEY         | 400 INVALID_JSON
POST /batch                                  | 401 INVALID_API_KEY         | 400 INVALID_JSON
GET /changes                                 | 401 INVALID_API_KEY         | 200
GET /runs                                    | 401 INVALID_API_KEY         | 200
GET /runs/:runId                             | 401 INVALID_API_KEY         | 404 RUN_NOT_FOUND
GET /projects                                | 401 INVALID_SESSION         | 200
POST /projects                               | 401 INVALID_SESSION         | 400 INVALID_JSON
GET /project                                 | 401 INVALID_SESSION         | 200
PATCH /project                               | 401 INVALID_SESSION         | 400 INVALID_JSON
DELETE /project                              | 401 INVALID_SESSION         | 400 VALIDATION_ERROR
GET /project/activity                        | 401 INVALID_SESSION         | 200
GET /project/usage                           | 401 INVALID_SESSION         | 200
GET /account                                 | 401 INVALID_SESSION         | 200
DELETE /account                              | 401 INVALID_SESSION         | 400 VALIDATION_ERROR
GET /project/apikeys                         | 401 INVALID_SESSION         | 200
POST /project/apikeys                        | 401 INVALID_SESSION         | 400 INVALID_JSON
POST /project/apikeys/:id/rotate             | 401 INVALID_SESSION         | 404 KEY_NOT_FOUND
POST /project/apikey/regenerate              | 401 INVALID_SESSION         | 200
PATCH /project/apikeys/:id                   | 401 INVALID_SESSION         | 400 INVALID_JSON
DELETE /project/apikeys/:id                  | 401 INVALID_SESSION         | 404 KEY_NOT_FOUND
GET /project/webhooks                        | 401 INVALID_SESSION         | 200
POST /project/webhooks                       | 401 INVALID_SESSION         | 400 INVALID_JSON
PATCH /project/webhooks/:id                  | 401 INVALID_SESSION         | 400 INVALID_JSON
DELETE /project/webhooks/:id                 | 401 INVALID_SESSION         | 404 WEBHOOK_NOT_FOUND
POST /project/webhooks/:id/test              | 401 INVALID_SESSION         | 404 WEBHOOK_NOT_FOUND
POST /project/webhooks/:id/replay            | 401 INVALID_SESSION         | 400 INVALID_JSON
GET /project/webhooks/:id/deliveries         | 401 INVALID_SESSION         | 404 WEBHOOK_NOT_FOUND
GET /project/members                         | 401 INVALID_SESSION         | 200
POST /project/members                        | 401 INVALID_SESSION         | 400 INVALID_JSON
PATCH /project/members/:id                   | 401 INVALID_SESSION         | 400 INVALID_JSON
DELETE /project/members/:id                  | 401 INVALID_SESSION         | 404 MEMBER_NOT_FOUND
POST /project/transfer                       | 401 INVALID_SESSION         | 400 INVALID_JSON
POST /invitations/:id/accept                 | 401 INVALID_SESSION         | 404 INVITATION_NOT_FOUND
POST /invitations/:id/decline                | 401 INVALID_SESSION         | 404 INVITATION_NOT_FOUND
POST /links                                  | 401 INVALID_API_KEY         | 400 INVALID_JSON
GET /links                                   | 401 INVALID_API_KEY         | 200
DELETE /links/:id                            | 401 INVALID_API_KEY         | 404 LINK_NOT_FOUND
GET /l/:token                                | 404 LINK_NOT_FOUND          | 404 LINK_NOT_FOUND
PUT /l/:token                                | 404 LINK_NOT_FOUND          | 404 LINK_NOT_FOUND
POST /memory                                 | 401 INVALID_API_KEY         | 400 INVALID_JSON
GET /search                                  | 401 INVALID_API_KEY         | 400 VALIDATION_ERROR
POST /mcp                                    | 401 INVALID_API_KEY         | 415 UNSUPPORTED_MEDIA_TYPE
POST /connect                                | 415 UNSUPPORTED_MEDIA_TYPE  | 401 INVALID_API_KEY
GET /connect/oauth-protected-resource        | 200                         | 200
GET /.well-known/openid-configuration        | 200                         | 200
GET /.well-known/oauth-authorization-server  | 200                         | 200
GET /oauth/jwks                              | 200                         | 200
POST /oauth/register                         | 400 invalid_client_metadata | 400 invalid_client_metadata
GET /oauth/authorize                         | 400 invalid_request         | 400 invalid_request
POST /oauth/token                            | 400 invalid_request         | 400 invalid_request
POST /oauth/revoke                           | 400 invalid_request         | 400 invalid_request
GET /oauth/requests/:request                 | 401 INVALID_SESSION         | 404 REQUEST_NOT_FOUND
POST /oauth/consent                          | 401 INVALID_SESSION         | 400 INVALID_JSON
POST /sweep                                  | 401 INVALID_API_KEY         | 401 INVALID_API_KEY
GET /openapi.json                            | 200                         | 200
GET /llms.txt                                | 200                         | 200
`;

/** Status, and the code or error of a failure. Without a body, so that nothing is changed. */
async function answerTo(url: string, route: string, credentials: Record<string, string>): Promise<string> {
  const [method = "", pattern = ""] = route.split(" ");
  const path = pattern.replace("/*", "/none.txt").replace(":id", ID).replace(/:\w+/, "none");
  // Each request has an address of its own: together they are more failed authentications than one has in a minute.
  const headers = { ...credentials, "cf-connecting-ip": crypto.randomUUID() };
  const { status, body } = await apiAt(url).request(null, method, path, { headers });
  const { error } = Object(body);
  return [status, error?.code ?? error].filter((part) => part !== undefined).join(" ");
}

test("each route answers an app's token and a person's as this table says", async () => {
  const person = await owner(service);
  const { access_token } = await (await App.register(service)).connect(person);
  const found: string[] = [];
  // Without the gateway, which lets no client say its address.
  await service.withBareFunction(async (origin) => {
    for (const { method, pattern } of ENTRIES) {
      const route = `${method} ${pattern}`;
      const answer = (credentials: Record<string, string>) => answerTo(`${origin}/api`, route, credentials);
      const ofApp = await answer({ authorization: `Bearer ${access_token}` });
      const asKey = await answer({ "x-api-key": access_token });
      const ofPerson = await answer(person.headers);
      found.push([route, ofApp, ofPerson].join(" | "));
      assert(asKey === ofApp || asKey === "401 INVALID_API_KEY" || asKey === "401 INVALID_SESSION", route);
    }
  }, { CONSOLE_URL: `${service.stack.supabaseUrl}/console` });
  assertEquals(found, ROUTES.trim().split("\n").map((row) => row.replaceAll(/ +\| /g, " | ")));
});

type Arguments = Readonly<Record<string, unknown>>;
/** Calls of every tool, inside and outside of the folder `notes`. */
const CALLS: readonly (readonly [string, Arguments])[] = ["notes/a.txt", "other/b.txt"].flatMap((path) => {
  const folder = path.slice(0, path.indexOf("/"));
  const calls: (readonly [string, Arguments])[] = [
    ["list_files", { path: folder, recursive: true }],
    ["read_file", { path }],
    ["file_history", { path }],
    ["diff_versions", { path, from: 1, to: 2 }],
    ["grep_files", { pattern: "words", path: folder }],
    ["search_files", { query: "words", path: folder }],
    ["recent_changes", { path: folder }],
    ["append_file", { path, content: "more\n" }],
    ["edit_file", { path, old_string: "more", new_string: "less" }],
    ["write_file", { path: `${folder}/new.txt`, content: "new" }],
    ["restore_file", { path, version: 1 }],
    ["move_file", { path: `${folder}/new.txt`, destination: "notes/moved.txt", overwrite: true }],
    ["move_file", { path, destination: "other/moved.txt" }],
    ["create_link", { path, for: "download" }],
    ["create_link", { path, for: "upload" }],
    ["delete_file", { path }],
    ["create_branch", { name: `of-${folder}`, path: folder }],
    ["write_file", { path: `.branches/of-${folder}/new.txt`, content: "new" }],
    ["finish_branch", { name: `of-${folder}` }],
    ["undo_run", { run: "r1" }],
  ];
  return calls;
});

/** The results, without what differs between two projects. */
async function resultsOf(agent: Agent, person: Account): Promise<string[]> {
  const tools = (await agent.tools()).map(({ name }) => name);
  const results: string[] = [tools.join()];
  for (const [name, args] of CALLS) {
    // A search finds what is indexed by then, which must be the same in both projects.
    if (name === "search_files") {
      assertEquals((await person.request("GET", "/search?q=words&mode=text&wait=10")).status, 200);
    }
    const answer = await agent.rpc("tools/call", { name, arguments: args }, {
      headers: { "x-run-id": "r1" },
    });
    const text = answer.text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replaceAll(
      /[\w-]{20,}/g,
      "TOKEN",
    );
    results.push(`${name} ${JSON.stringify(args)}: ${answer.status} ${text}`);
  }
  return results;
}

async function project(): Promise<Account & { readonly projectId: string }> {
  const person = await owner(service);
  for (const path of ["notes/a.txt", "other/b.txt"]) {
    for (const content of ["some words\n", "other words\n"]) {
      await person.request("POST", "/files", { body: { path, content }, headers: { "x-run-id": "r1" } });
    }
  }
  return person;
}

test("the calls below are of every tool", () => {
  assertEquals(
    [...new Set(CALLS.map(([name]) => name))].toSorted(),
    TOOLS.map(({ name }) => name).toSorted(),
  );
});

for (
  const [index, rights] of [
    { scopes: ["read", "write"] },
    { scopes: ["read", "write"], pathPrefix: "notes" },
    { scopes: ["read"], pathPrefix: "notes" },
    { scopes: ["write"] },
  ].entries()
) {
  test(`an app with ${JSON.stringify(rights)} answers as a key with the same in every tool`, async () => {
    const [ofKey, ofApp] = [await project(), await project()];
    const { key } = await ofKey.createKey(rights);
    const { access_token } = await (await App.register(service)).connect(ofApp, rights);
    // The two eras of the protocol alternate.
    const era = ERAS[index % 2];
    const expected = await resultsOf(new Agent(service, key, era), ofKey);
    assertEquals(await resultsOf(connected(service, access_token, era), ofApp), expected);
    if (rights.pathPrefix === undefined) return;
    const outside = expected.filter((result) => result.includes('"path":"other/b.txt"'));
    assert(
      outside.length > 5 && outside.every((result) => result.includes('"isError":true')),
      outside.join("\n"),
    );
  });
}

test("a call at /connect makes the calls of one at /mcp, and counts in the project's window", async () => {
  const person = await project();
  const { key } = await person.createKey();
  const { access_token } = await (await App.register(service)).connect(person);
  const [atMcp, atConnect] = [new Agent(service, key), connected(service, access_token)];
  for (
    const [name, args] of [
      ["read_file", { path: "notes/a.txt" }],
      ["append_file", { path: "notes/a.txt", content: "more" }],
      ["list_files", {}],
    ] as const
  ) {
    for (const agent of [atMcp, atConnect]) await agent.call(name, args);
    const expected = await trafficOf(service, () => atMcp.call(name, args));
    assertEquals(expected.database.length > 0, true);
    assertEquals(await trafficOf(service, () => atConnect.call(name, args)), expected, name);
  }
  await service.setTier(person.projectId, "free");
  await service.freezeWindow(person.projectId, 0);
  assertEquals(rateOf((await atConnect.rpc("tools/list")).headers).remaining, 99);
  await service.freezeWindow(person.projectId, 100);
  assertEquals((await atConnect.rpc("tools/list")).status, 429);
  assertEquals((await (await App.register(service)).authorize()).status, 302, "no project counts it");
});

test("documents, registration and the request for consent make no calls; each other step makes one", async () => {
  const person = await owner(service);
  const app = await App.register(service);
  const none = { database: [], ...NO_OBJECTS };
  for (
    const path of [
      "/connect/oauth-protected-resource",
      "/.well-known/openid-configuration",
      "/.well-known/oauth-authorization-server",
      "/oauth/jwks",
    ]
  ) assertEquals(await trafficOf(service, () => service.request(null, "GET", path)), none);
  assertEquals(await trafficOf(service, () => App.register(service)), none);
  assertEquals(await trafficOf(service, () => app.authorize()), none);
  assertEquals(await trafficOf(service, () => service.request(null, "POST", "/connect", { body: {} })), none);
  assertEquals(await trafficOf(service, () => connected(service, "no token").rpc("tools/list")), none);
  assertEquals(await trafficOf(service, () => app.revoke("no token")), none);
  const request = await app.request();
  const one = async (name: string, work: () => Promise<unknown>) =>
    assertEquals(await trafficOf(service, work), { database: [name], ...NO_OBJECTS });
  await one("filestore_account_request", () => person.request("GET", `/oauth/requests/${request}`));
  await one("filestore_account_consent", () => answerRequest(person, request));
  const code = await app.code(person);
  await one("filestore_app_exchange", () => app.exchange(code));
  const { refresh_token } = await app.connect(person);
  await one("filestore_app_refresh", () => app.refresh(refresh_token));
  await one("filestore_app_revoke", () => app.revoke(refresh_token));
  const junk = form({ grant_type: "refresh_token", client_id: "unknown", refresh_token });
  assertEquals(await trafficOf(service, () => service.request(null, "POST", "/oauth/token", junk)), none);
});
