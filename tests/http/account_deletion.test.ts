/** Deleting an account deletes its projects and its Auth user, and its tokens are refused at once. */
import { assertEquals } from "@std/assert";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { type Account, claimsOf, owner, signUp } from "../support/client/accounts.ts";
import { assertRefused, dataOf, deletedRecord, issuePaths } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { privateSuite, test } from "../support/stack/suite.ts";

const { service } = await privateSuite({});
const administration = new Administration(service.stack.supabaseUrl, service.stack.secretKey);

const emailOf = (account: Account) => String(claimsOf(account.token)["email"]);
const idOf = (account: Account) => String(claimsOf(account.token)["sub"]);
const confirming = (email: string) => ({ query: { confirm: email } });

/** The rows of Auth that still refer to the account. */
async function left(account: Account): Promise<string[]> {
  const found: string[] = [];
  for (const name of ["users", "sessions", "identities", "refresh_tokens"]) {
    const refers = `select from auth.${name} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0`;
    if ((await service.sql(refers, [idOf(account), emailOf(account)])).length > 0) found.push(name);
  }
  return found;
}

async function projectsOf(account: Account): Promise<number> {
  return (await service.sql("select from filestore.projects where owner_id = $1", [idOf(account)])).length;
}

async function sweepAll(): Promise<void> {
  while (!(await administration.sweep(new Date())).isDone);
}

test("DELETE /account ends the person's projects and keys, then the person; another account keeps everything", async () => {
  const [account, other] = [await owner(service), await owner(service)];
  await account.createProject("Second one");
  const { key } = await account.createKey({ scopes: ["read", "write"] });
  const { key: kept } = await other.createKey({ scopes: ["read", "write"] });
  for (const each of [key, kept]) await new Files(service, each).write("f.txt", "content");
  const answer = await account.request("DELETE", "/account", confirming(emailOf(account).toUpperCase()));
  const data = dataOf(answer, "delete_account", deletedRecord);
  assertEquals(data.id, idOf(account));
  assertEquals([await left(account), await projectsOf(account)], [[], 0]);
  assertRefused(await service.request(key, "GET", "/files/f.txt"), "INVALID_API_KEY");
  for (const path of ["/projects", "/project", "/files/f.txt"]) {
    assertRefused(await account.request("GET", path), "INVALID_SESSION");
  }
  const another = await account.about(null).request("POST", "/projects", { body: { name: "x" } });
  assertRefused(another, "INVALID_SESSION");
  assertEquals((await new Files(service, kept).read("f.txt")).content, "content");
  assertEquals((await other.projects()).length, 1);
  await sweepAll();
  const objects = "select name from storage.objects where name like $1";
  assertEquals(await service.sql(objects, [`${account.projectId}/%`]), []);
  assertEquals((await new Files(service, kept).read("f.txt")).content, "content");
});

test("DELETE /account is refused without the address, with a key, and while a project is suspended", async () => {
  const account = await owner(service);
  const { key } = await account.createKey({ scopes: ["admin"] });
  const email = emailOf(account);
  for (const query of [{}, { confirm: "" }, { confirm: "somebody@example.org" }, { confirm: `${email}x` }]) {
    const refused = await account.request("DELETE", "/account", { query });
    assertEquals(issuePaths(assertRefused(refused, "VALIDATION_ERROR", "delete_account")), ["confirm"]);
  }
  assertRefused(await service.request(key, "DELETE", "/account", confirming(email)), "INVALID_SESSION");
  assertRefused(await service.request(null, "DELETE", "/account", confirming(email)), "INVALID_SESSION");
  await administration.updateProject(account.projectId, { isSuspended: true });
  const refused = await account.request("DELETE", "/account", confirming(email));
  assertEquals(assertRefused(refused, "FORBIDDEN_SCOPE", "delete_account"), { suspended: true });
  await administration.updateProject(account.projectId, { isSuspended: false });
  assertEquals([(await account.projects()).length, (await left(account)).includes("users")], [1, true]);
});

test("where Auth is out of reach the account is closed at once, and the sweep has it removed later", async () => {
  const account = await owner(service);
  service.proxy.hook = ({ path }, forward) =>
    path.startsWith("/auth/v1/admin/") ? new Response("down", { status: 503 }) : forward();
  const answer = await account.request("DELETE", "/account", confirming(emailOf(account)));
  dataOf(answer, "delete_account", deletedRecord);
  assertEquals((await left(account)).includes("users"), true);
  assertRefused(await account.request("GET", "/projects"), "INVALID_SESSION");
  service.proxy.hook = null;
  await service.sql("update filestore.account_deletions set due_at = now()");
  await sweepAll();
  assertEquals(await left(account), []);
  assertEquals(await service.sql("select from filestore.account_deletions"), []);
});

test("a lost answer to DELETE /account is asked for again and is the first one's", async () => {
  const account = await owner(service);
  const answer = await service.proxy.losing(
    "account_delete",
    () => account.request("DELETE", "/account", confirming(emailOf(account))),
  );
  assertEquals(dataOf(answer, "delete_account", deletedRecord).id, idOf(account));
  assertEquals(await left(account), []);
});

test("only the secret key removes a person from the local Auth", async () => {
  const account = await signUp(service);
  const url = `${service.stack.supabaseUrl}/auth/v1/admin/users/${idOf(account)}`;
  for (const key of [service.stack.publishableKey, account.token, ""]) {
    const refused = await fetch(url, { method: "DELETE", headers: { apikey: key } });
    assertEquals([refused.status, (await refused.json()).error_code], [403, "not_admin"]);
  }
  const headers = { apikey: service.stack.secretKey };
  assertEquals(await (await fetch(url, { method: "DELETE", headers })).json(), {});
  const again = await fetch(url, { method: "DELETE", headers });
  assertEquals([again.status, (await again.json()).error_code], [404, "user_not_found"]);
});
