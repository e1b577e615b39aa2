/** An access token of another app, of another role or of an ended session is refused everywhere, at once. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { Account, claimsOf, forgeToken, owner, signIn } from "../support/client/accounts.ts";
import { assertRefused } from "../support/client/contract.ts";
import { privateSuite, test } from "../support/stack/suite.ts";

const { service } = await privateSuite({});

type Owner = Awaited<ReturnType<typeof owner>>;

// @supabase/lite has no second factors. This is the part of Auth's table that the service reads.
await service.sql("create table auth.mfa_factors (id uuid, user_id uuid, status text)");

const requiresSecondFactor = (account: Account) =>
  service.sql("insert into auth.mfa_factors values (gen_random_uuid(), $1, 'verified')", [idOf(account)]);

const idOf = (account: Account) => String(claimsOf(account.token)["sub"]);
const forged = (claims: Record<string, unknown>) => (account: Account) =>
  forgeToken(service, { ...claimsOf(account.token), ...claims });

async function signOut(account: Account, scope: "local" | "global" | "others"): Promise<void> {
  const answer = await fetch(`${service.stack.supabaseUrl}/auth/v1/logout?scope=${scope}`, {
    method: "POST",
    headers: { apikey: service.stack.publishableKey, authorization: `Bearer ${account.token}` },
  });
  await answer.body?.cancel();
  assertEquals(answer.status, 204);
}

/** Tokens that are invalid from their first use on. */
const FORGED: Readonly<Record<string, (account: Account) => Promise<string>>> = {
  "issued to a third-party app": forged({ client_id: crypto.randomUUID() }),
  "of the role postgres": forged({ role: "postgres" }),
  "of the role filestore_account": forged({ role: "filestore_account" }),
  "of the role service_role": forged({ role: "service_role" }),
  "of a role that does not exist": forged({ role: "nobody" }),
  "of no role": forged({ role: undefined }),
  "for another audience": forged({ aud: "another-service" }),
  "for other audiences": forged({ aud: ["another-service", "anon"] }),
  "of an unknown session": forged({ session_id: crypto.randomUUID() }),
  "of no session": forged({ session_id: undefined }),
  "of another person's session": async (account) =>
    await forged({ session_id: claimsOf((await owner(service)).token)["session_id"] })(account),
};

/** The events that end a valid token. */
const ENDED: Readonly<Record<string, (account: Owner) => Promise<unknown>>> = {
  "after its sign-out": (account) => signOut(account, "local"),
  "after a global sign-out elsewhere": async (account) => await signOut(await signIn(account), "global"),
  "after another session signed the others out": async (account) =>
    await signOut(await signIn(account), "others"),
  "after its session's end": (account) =>
    service.sql("update auth.sessions set not_after = now() where user_id = $1", [idOf(account)]),
  "without the second factor that was turned on": requiresSecondFactor,
};

/** Requests about accounts that each token must be refused, sent with the token alone. */
const ACCOUNT_CALLS = (email: string): readonly (readonly [string, string, object?])[] => [
  ["GET", "/account"],
  ["GET", "/projects"],
  ["POST", "/projects", { body: { name: "another" } }],
  ["GET", "/project"],
  ["GET", "/project/apikeys"],
  ["GET", "/project/members"],
  ["POST", "/project/members", { body: { email: "a@example.org", role: "admin" } }],
  ["POST", `/invitations/${crypto.randomUUID()}/accept`],
  ["POST", "/project/apikeys", { body: { scopes: ["admin"] } }],
  ["DELETE", "/project", { query: { confirm: "My project" } }],
  ["DELETE", "/account", { query: { confirm: email } }],
];

const FILE_CALLS: readonly (readonly [string, string, object?])[] = [
  ["GET", "/files/f.txt"],
  ["GET", "/files"],
  ["POST", "/files", { body: { path: "g.txt", content: "x" } }],
  ["PUT", "/files/append/f.txt", { body: { content: "x" } }],
  ["DELETE", "/files/f.txt?purge"],
  ["POST", "/links", { body: { path: "f.txt", for: "read" } }],
];

const hash = "ab".repeat(32);
const NEW_KEY = {
  ...{ keyHash: hash, prefix: "oa_0123456", environment: "production", scopes: ["admin"], name: "n" },
};
/** The SQL functions that `authenticated` may call. */
const FUNCTIONS = (projectId: string, email: string): Readonly<Record<string, object>> => ({
  filestore_account_describe: {},
  filestore_account_projects: {},
  filestore_account_create_project: { p_name: "another", p_id: crypto.randomUUID() },
  filestore_account_administer: { p_project_id: projectId, p_action: "create_key", p_parameters: NEW_KEY },
  filestore_account_members: {
    p_project_id: projectId,
    p_action: "invite",
    p_parameters: { id: crypto.randomUUID(), email: "a@example.org", role: "admin" },
  },
  filestore_account_answer_invitation: { p_id: crypto.randomUUID(), p_accepts: true },
  filestore_account_delete: { p_confirm: email, p_deletion_id: crypto.randomUUID() },
});

const refusal = z.union([
  z.object({ refusal: z.object({ code: z.literal("INVALID_SESSION") }) }),
  // An error of PostgREST: the role may not call the function, or does not exist.
  z.object({ code: z.string() }),
]);

async function assertRefusedEverywhere(account: Owner, token: string): Promise<void> {
  const email = String(claimsOf(account.token)["email"]);
  const before = await service.tables();
  const holder = new Account(service, token, account.projectId);
  for (const [method, path, options] of [...FILE_CALLS, ...ACCOUNT_CALLS(email)]) {
    const answer = await holder.request(method, path, options);
    assertRefused(answer, "INVALID_SESSION");
    assertEquals(answer.headers.get("www-authenticate"), "Bearer", `${method} ${path}`);
  }
  for (const [name, parameters] of Object.entries(FUNCTIONS(account.projectId, email))) {
    const answer = await holder.callDatabase(name, parameters);
    const body: unknown = await answer.json();
    assertEquals(refusal.safeParse(body).success, true, `${name}: ${JSON.stringify(body)}`);
  }
  assertEquals(await service.tables(), before);
  const made = "select from filestore.console_sessions where encode(token_hash, 'hex') = $1";
  assertEquals(await service.sql(made, [hash]), []);
}

/** Tests of one process, whose failed authentications together stay below what an address may have in a minute. */
const TESTS_OF_A_PROCESS = 5;
let made = 0;

/** A new account with a file. */
async function ownerOfFile(): Promise<Owner> {
  if (made++ % TESTS_OF_A_PROCESS === 0) await service.restartFunction();
  const account = await owner(service);
  await account.request("POST", "/files", { body: { path: "f.txt", content: "one" } });
  return account;
}

for (const [what, forge] of Object.entries(FORGED)) {
  test(`401 INVALID_SESSION, and nothing is done: a token ${what}`, async () => {
    const account = await ownerOfFile();
    await assertRefusedEverywhere(account, await forge(account));
    assertEquals((await account.request("GET", "/files/f.txt")).status, 200);
  });
}

for (const [what, end] of Object.entries(ENDED)) {
  test(`401 INVALID_SESSION at once, although the isolate remembers it: a token ${what}`, async () => {
    const account = await ownerOfFile();
    await end(account);
    await assertRefusedEverywhere(account, account.token);
  });
}

test("401 comes before 429: the token of a session that ended counts in no window", async () => {
  const account = await ownerOfFile();
  await service.setTier(account.projectId, "free");
  await service.freezeWindow(account.projectId, 100);
  await signOut(account, "local");
  assertRefused(await account.request("GET", "/files"), "INVALID_SESSION");
});

test("each sign-in has a session of its own: signing out of one ends no other, and none brings it back", async () => {
  const first = await ownerOfFile();
  const second = (await signIn(first)).about(first.projectId);
  const read = (account: Account) => account.request("GET", "/files/f.txt");
  for (const account of [first, second, first, second]) assertEquals((await read(account)).status, 200);
  await signOut(first, "local");
  assertRefused(await read(first), "INVALID_SESSION");
  assertEquals((await read(second)).status, 200);
  const third = (await signIn(second)).about(first.projectId);
  assertEquals((await read(third)).status, 200);
  assertRefused(await read(first), "INVALID_SESSION");
  assertEquals((await read(second)).status, 200);
});

test("a session that took the second factor goes on; its token from before does not", async () => {
  const before = await ownerOfFile();
  await requiresSecondFactor(before);
  const after = new Account(service, await forged({ aal: "aal2" })(before), before.projectId);
  for (const _ of [1, 2]) {
    assertEquals((await after.request("GET", "/files/f.txt")).status, 200);
    assertRefused(await before.request("GET", "/files/f.txt"), "INVALID_SESSION");
  }
  assertEquals((await after.request("GET", "/projects")).status, 200);
});
