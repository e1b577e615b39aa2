/**
 * /projects and /project for signed-in people. Each person sees only their own projects; another's looks like a missing
 * one.
 */
import { assertEquals } from "@std/assert";
import { ACCOUNT_PROJECTS_MAX, ACCOUNT_REQUESTS_PER_MINUTE } from "../../supabase/functions/api/limits.ts";
import { Account, claimsOf, forgeToken, owner, signUp } from "../support/client/accounts.ts";
import type { Answer } from "../support/client/contract.ts";
import { assertRefused, dataOf, issuesOf, projectRecord, rateOf } from "../support/client/contract.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();
const NOBODYS = "d0000000-0000-4000-8000-000000000000";

test("GET /projects makes nothing and lists what POST made, a project of the free tier", async () => {
  const account = await signUp(service);
  assertEquals([await account.projects(), await account.projects()], [[], []]);
  const made = await account.createProject("Mine");
  assertEquals(await account.projects(), [made]);
  const { id: _, createdAt: __, ...project } = made;
  assertEquals(project, {
    name: "Mine",
    tier: "free",
    retention: null,
    limits: { requestsPerMinute: 100, maxFileBytes: 10_485_760, maxProjectBytes: 1_073_741_824 },
    usage: { files: 0, bytes: 0, databaseBytes: 0, versions: 0, requestsThisMinute: 0 },
    keyPrefix: null,
    role: "owner",
  });
});

test("POST /projects makes one; 409 PROJECT_NAME_TAKEN in this account alone; 422 PROJECT_LIMIT_REACHED after 20", async () => {
  const account = await signUp(service);
  const first = await account.createProject("Notes");
  assertEquals([first.name, first.tier], ["Notes", "free"]);
  const again = await account.request("POST", "/projects", { body: { name: "Notes" } });
  assertRefused(again, "PROJECT_NAME_TAKEN", "create_project");
  assertEquals((await (await signUp(service)).createProject("Notes")).name, "Notes");
  for (let count = 2; count <= ACCOUNT_PROJECTS_MAX; count++) await account.createProject(`Project ${count}`);
  const refused = await account.request("POST", "/projects", { body: { name: "One more" } });
  assertEquals(assertRefused(refused, "PROJECT_LIMIT_REACHED", "create_project"), { limit: 20 });
  const others = Array.from({ length: 19 }, (_, index) => `Project ${index + 2}`);
  assertEquals((await account.projects()).map(({ name }) => name), ["Notes", ...others]);
});

test("a lost answer to POST /projects is asked for again and makes one project", async () => {
  const account = await signUp(service);
  await service.proxy.losing("create_project", () => account.createProject("Once"));
  assertEquals((await account.projects()).map(({ name }) => name), ["Once"]);
});

test("GET and PATCH /project are about x-project-id, and without one about the oldest", async () => {
  const account = await signUp(service);
  const oldest = await account.createProject("My project");
  const second = await account.createProject("Second");
  const get = async (from: Account) =>
    dataOf(await from.request("GET", "/project"), "get_project", projectRecord);
  assertEquals((await get(account)).id, oldest.id);
  assertEquals(await get(account.about(second.id)), second);
  assertEquals((await get(account.about(second.id.toUpperCase()))).id, second.id);
  const rename = (name: string) => account.about(second.id).request("PATCH", "/project", { body: { name } });
  const renamed = dataOf(await rename("Renamed"), "update_project", projectRecord);
  assertEquals(renamed, { ...second, name: "Renamed" });
  // 100 characters, though more units of UTF-16.
  assertEquals((await rename("😀".repeat(100))).status, 200);
  await rename("Renamed");
  assertRefused(await rename("My project"), "PROJECT_NAME_TAKEN", "update_project");
  assertEquals((await account.projects()).map(({ name }) => name), ["My project", "Renamed"]);
});

const BAD_NAMES: readonly (readonly [unknown, RegExp])[] = [
  [undefined, /required/],
  [null, /./],
  [7, /string/],
  ["", /empty/],
  ["x".repeat(101), /at most 100/],
  ["😀".repeat(101), /at most 100/],
  [" a", /space/],
  ["a ", /space/],
  ["a\nb", /control/],
  ["a\u0000b", /control/],
  ["\ud800", /well-formed/],
];

for (const [name, reason] of BAD_NAMES) {
  const shown = JSON.stringify(name)?.slice(0, 20) ?? "none";
  test(`400 VALIDATION_ERROR: the name ${shown} of a project, also of an account without one`, async () => {
    const account = await signUp(service);
    const create = await account.request("POST", "/projects", { body: { name } });
    const [issue] = issuesOf(assertRefused(create, "VALIDATION_ERROR", "create_project"));
    assertEquals([issue?.path, reason.test(issue?.reason ?? "")], ["name", true], issue?.reason);
    await account.createProject("Mine");
    const update = await account.request("PATCH", "/project", { body: { name } });
    // The name is optional for an existing project.
    if (name === undefined || name === null) assertEquals(update.status, 200);
    else assertRefused(update, "VALIDATION_ERROR", "update_project");
  });
}

/** Requests about a project. `{}` in a path is replaced by the id of one of its keys. */
const REQUESTS: readonly (readonly [string, string, unknown?])[] = [
  ["GET", "/project"],
  ["PATCH", "/project", { name: "Stolen" }],
  ["PATCH", "/project", { name: "" }],
  ["GET", "/project/activity"],
  ["GET", "/project/activity?limit=0"],
  ["GET", "/project/usage"],
  ["GET", "/project/usage?from=2026-13-01"],
  ["GET", "/project/apikeys"],
  ["POST", "/project/apikeys", {}],
  ["POST", "/project/apikeys", { scopes: [] }],
  ["POST", "/project/apikeys/{}/rotate"],
  ["DELETE", "/project/apikeys/{}"],
  ["POST", "/project/apikey/regenerate"],
  ["GET", "/files"],
  ["GET", "/files/secret.txt"],
  ["GET", "/files/secret.txt?versions"],
  ["GET", "/diff/secret.txt"],
  ["POST", "/files", { path: "secret.txt", content: "x" }],
  ["POST", "/files", { path: "large.txt", content: "x".repeat(70_000) }],
  ["PUT", "/files/append/secret.txt", { content: "x" }],
  ["PUT", "/files/edit/secret.txt", { oldString: "s", newString: "x" }],
  ["DELETE", "/files/secret.txt"],
];

/** The answer, without the parts that differ between requests. */
function shown({ status, text, headers }: Answer): unknown {
  // Each request counts in the account's own window.
  const varying = ["x-request-id", "date", "ratelimit", "x-ratelimit-reset", "x-ratelimit-remaining"];
  return { status, text, headers: [...headers].filter(([name]) => !varying.includes(name)) };
}

test("404 PROJECT_NOT_FOUND: another account's project gets the same answer as one that does not exist", async () => {
  const victim = await owner(service);
  const key = await victim.createKey();
  await victim.request("POST", "/files", { body: { path: "secret.txt", content: "secret" } });
  const stranger = await owner(service);
  const before = await service.tables();
  for (const [method, pattern, body] of REQUESTS) {
    const ask = (projectId: string, keyId: string) =>
      stranger.about(projectId).request(method, pattern.replace("{}", keyId), { body });
    const theirs = await ask(victim.projectId, key.id);
    assertRefused(theirs, "PROJECT_NOT_FOUND");
    assertEquals(shown(theirs), shown(await ask(NOBODYS, NOBODYS)), `${method} ${pattern}`);
  }
  assertEquals(await service.tables(), before);
});

test("429 RATE_LIMIT_EXCEEDED after 120 requests about projects and keys in a minute, for this account alone", async () => {
  const [account, other] = [await owner(service), await owner(service)];
  const limit = ACCOUNT_REQUESTS_PER_MINUTE;
  // A window that no clock minute ends.
  await service.freezeWindow(account.projectId);
  await service.sql(
    `update filestore.account_windows set request_count = $2, window_start = window_start + interval '10 minutes'
     where account_id = $1`,
    [claimsOf(account.token)["sub"], limit - 1],
  );
  const last = await account.request("GET", "/project");
  assertEquals([last.status, rateOf(last.headers).limit, rateOf(last.headers).remaining], [200, limit, 0]);
  const before = await service.tables();
  const refusals = [
    ...await Promise.all(["/account", "/projects", "/files"].map((path) => account.request("GET", path))),
    await account.request("POST", "/projects", { body: { name: "one more" } }),
    await account.request("POST", "/project/apikeys", { body: {} }),
  ];
  for (const refused of refusals) {
    assertRefused(refused, "RATE_LIMIT_EXCEEDED");
    assertEquals([rateOf(refused.headers).limit, rateOf(refused.headers).remaining], [limit, 0]);
  }
  assertEquals(await service.tables(), before);
  assertEquals((await other.request("GET", "/project")).status, 200);
});

test("401 INVALID_SESSION, one answer for every kind of bad token, on every route", async () => {
  const good = await owner(service);
  const claims = claimsOf(good.token);
  const [header, payload, signature = ""] = good.token.split(".");
  const { secretKey, publishableKey } = service.stack;
  // Further in the past than the 30 s by which PostgREST allows clocks to differ.
  const past = Math.floor(Date.now() / 1000) - 60;
  const tokens: Record<string, string> = {
    "another signature": `${header}.${payload}.${signature[0] === "A" ? "B" : "A"}${signature.slice(1)}`,
    "another secret": await forgeToken(service, claims, { secret: "x".repeat(40) }),
    "expired": await forgeToken(service, { ...claims, exp: past, iat: past - 3600 }),
    "alg none with a signature": `${await forgeToken(service, claims, { alg: "none" })}AAAA`,
    "another role": await forgeToken(service, { ...claims, role: "anon" }),
    "no subject": await forgeToken(service, { ...claims, sub: undefined }),
    "another issuer's subject": await forgeToken(service, { ...claims, sub: "user_2abc" }),
    "of the function's own": service.secrets.serviceRoleKey,
  };
  const malformed: Record<string, string | null> = {
    "missing": null,
    "no JWT": "abc",
    "alg none": await forgeToken(service, claims, { alg: "none" }),
    "too long": `${good.token}${"A".repeat(8192)}`,
    "the secret key": secretKey,
    "the publishable key": publishableKey,
  };
  const ask = (path: string, token: string | null) =>
    service.request(null, "GET", path, {
      headers: { "x-project-id": good.projectId, ...token !== null && { authorization: `Bearer ${token}` } },
    });
  for (const path of ["/account", "/projects", "/project/apikeys"]) {
    const answers = new Set<string>();
    for (const [name, token] of Object.entries({ ...tokens, ...malformed })) {
      const answer = await ask(path, token);
      assertEquals(assertRefused(answer, "INVALID_SESSION"), {}, name);
      assertEquals(answer.headers.get("www-authenticate"), "Bearer");
      answers.add(answer.text);
    }
    assertEquals(answers.size, 1);
  }
  for (const token of Object.values(tokens)) assertRefused(await ask("/files", token), "INVALID_SESSION");
  for (const token of Object.values(malformed)) assertRefused(await ask("/files", token), "INVALID_API_KEY");
  const forged = new Account(service, await forgeToken(service, claims));
  assertEquals((await forged.request("GET", "/projects")).status, 200, "the forger can");
});

test("401 INVALID_SESSION: an API key is no account, for /projects and /account", async () => {
  const someone = await owner(service);
  const { key } = await someone.createKey({ scopes: ["admin"] });
  for (const headers of [{ "x-api-key": key }, { authorization: `Bearer ${key}` }]) {
    const listed = await service.request(null, "GET", "/projects", { headers });
    assertRefused(listed, "INVALID_SESSION", "list_projects");
    const told = await service.request(null, "GET", "/account", { headers });
    assertRefused(told, "INVALID_SESSION", "get_account");
    const made = await service.request(null, "POST", "/projects", { headers, body: { name: "x" } });
    assertRefused(made, "INVALID_SESSION", "create_project");
  }
});

test("400 VALIDATION_ERROR: x-project-id that is no id; on file routes also none", async () => {
  const someone = await owner(service);
  for (const id of ["", "x", "1", `${someone.projectId}0`, someone.projectId.replaceAll("-", "")]) {
    for (const path of ["/project", "/project/apikeys", "/files", "/files/f"]) {
      const details = assertRefused(await someone.about(id).request("GET", path), "VALIDATION_ERROR");
      assertEquals(issuesOf(details), [{ path: "x-project-id", reason: "must be the id of a project" }]);
    }
  }
  assertRefused(await someone.about(null).request("GET", "/files"), "VALIDATION_ERROR", "list_files");
  assertEquals((await someone.request("GET", "/files")).status, 200);
});
