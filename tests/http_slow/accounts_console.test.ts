/** The console: file routes for the owner of a project, under an access token and x-project-id. */
import { assertEquals } from "@std/assert";
import { Account, claimsOf, forgeToken, owner } from "../support/client/accounts.ts";
import {
  activityList,
  assertRefused,
  dataOf,
  ownersVersionList,
  projectRecord,
  rateOf,
} from "../support/client/contract.ts";
import { aboutFile, FILE_ROUTES, PROJECT_ROUTES, RUN } from "../support/client/every_route.ts";
import { Files } from "../support/client/files.ts";
import type { BackendCall } from "../support/stack/proxy.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

for (const route of [...FILE_ROUTES, ...PROJECT_ROUTES]) {
  test(`${route.name} works for the owner, and for nobody else`, async () => {
    const [account, stranger] = [await owner(service), await owner(service)];
    await account.request("POST", "/files", { body: { path: "f.txt", content: "one" } });
    await account.request("PUT", "/files/append/f.txt", { body: { content: "two" } });
    await account.request("POST", "/files", {
      body: { path: "f.txt/in.txt", content: "in" },
      headers: { "x-run-id": RUN },
    });
    const { path, options } = aboutFile(route, "f.txt");
    const refused = await stranger.about(account.projectId).request(route.method, path, options);
    assertRefused(refused, "PROJECT_NOT_FOUND");
    assertEquals((await account.request(route.method, path, options)).status, route.status ?? 200);
  });
}

test("versions and activity tell the owner which key wrote; versions tell a key nothing", async () => {
  const account = await owner(service);
  const { id, key } = await account.createKey();
  const files = new Files(service, key);
  await files.write("f.txt", "by the key");
  await account.request("PUT", "/files/append/f.txt", { body: { content: " and by the console" } });
  const versions = await account.request("GET", "/files/f.txt?versions");
  const list = dataOf(versions, "get_file_versions", ownersVersionList).versions;
  assertEquals(list.map(({ version, keyId }) => [version, keyId]), [[2, undefined], [1, id]]);
  // Its strict schema has no keyId, so this also asserts that none is shown.
  assertEquals((await files.versions("f.txt")).total, 2);
  await files.write("g.txt", "x");
  await files.request("DELETE", "/files/g.txt");
  await files.request("PUT", "/files/move/f.txt", { body: { destination: "h.txt" } });
  const activity = async (query = "") => {
    const answer = await account.request("GET", `/project/activity${query}`);
    return dataOf(answer, "list_activity", activityList).activity;
  };
  const all = await activity();
  const shown = all.map(({ path, version, deleted, keyId }) => [path, version, deleted ?? false, keyId]);
  // Both versions of a move may have the same millisecond.
  assertEquals(shown.slice(0, 2).sort(), [["f.txt", 3, true, id], ["h.txt", 1, false, id]]);
  assertEquals(shown.slice(2), [
    ...[["g.txt", 2, true, id], ["g.txt", 1, false, id]],
    ...[["f.txt", 2, false, null], ["f.txt", 1, false, id]],
  ]);
  for (const limit of [1, 3, 5]) assertEquals(await activity(`?limit=${limit}`), all.slice(0, limit));
  for (const limit of ["0", "101", "x", "1.5"]) {
    const refused = await account.request("GET", `/project/activity?limit=${limit}`);
    assertRefused(refused, "VALIDATION_ERROR", "list_activity");
  }
});

test("requests of the console count in the project's window; those about keys and projects do not", async () => {
  const account = await owner(service);
  const { key } = await account.createKey();
  await service.setTier(account.projectId, "free");
  await service.freezeWindow(account.projectId);
  const remaining = async (asked: Promise<{ headers: Headers }>) => rateOf((await asked).headers).remaining;
  assertEquals(await remaining(account.request("GET", "/files")), 99);
  assertEquals(await remaining(service.request(key, "GET", "/files")), 98);
  await account.request("GET", "/project/apikeys");
  assertEquals(await remaining(account.request("GET", "/files/none")), 97);
  const project = dataOf(await account.request("GET", "/project"), "get_project", projectRecord);
  assertEquals(project.usage.requestsThisMinute, 3);
  await service.freezeWindow(account.projectId, 100);
  assertRefused(await account.request("GET", "/files"), "RATE_LIMIT_EXCEEDED", "list_files");
  const write = await account.request("POST", "/files", { body: { path: "f", content: "x" } });
  assertRefused(write, "RATE_LIMIT_EXCEEDED");
  assertEquals((await account.request("GET", "/project")).status, 200);
});

/** The names of the SQL functions in these calls. */
function names(calls: readonly BackendCall[]): string[] {
  return calls.map(({ target, path }) => target === "storage" ? target : path.split("/").at(-1) ?? "");
}

test("a request of the console that is refused by its own data makes 1 call: to open the session, or to count it", async () => {
  const account = await owner(service);
  const refused = async () => {
    const answer = await account.request("GET", "/files?limit=0");
    assertRefused(answer, "VALIDATION_ERROR");
  };
  assertEquals(names(await service.proxy.during(refused)), ["filestore_account_administer"]);
  assertEquals(names(await service.proxy.during(refused)), ["filestore_authorize"]);
});

test("what is known of a project outlasts a session that ended: a write does not ask for it again", async () => {
  const account = await owner(service);
  const write = () => account.request("POST", "/files", { body: { path: "f.txt", content: "one" } });
  assertEquals((await write()).status, 200);
  await service.sql("delete from filestore.console_sessions where project_id = $1", [account.projectId]);
  assertRefused(await account.request("GET", "/files"), "SERVICE_UNAVAILABLE", "list_files");
  const calls = await service.proxy.during(write);
  assertEquals(names(calls), ["filestore_account_administer", "storage", "filestore_commit"]);
});

test("a session that ended is opened again; a token that ends is verified again by a process that remembers it", async () => {
  const account = await owner(service);
  assertEquals((await account.request("GET", "/files")).status, 200);
  await service.sql(
    "update filestore.console_sessions set expires_at = clock_timestamp() - interval '1 second'",
  );
  assertRefused(await account.request("GET", "/files"), "SERVICE_UNAVAILABLE", "list_files");
  assertEquals((await account.request("GET", "/files")).status, 200);
  const exp = Math.floor(Date.now() / 1000) + 2;
  const token = await forgeToken(service, { ...claimsOf(account.token), exp });
  const brief = new Account(service, token, account.projectId);
  assertEquals((await brief.request("GET", "/files")).status, 200);
  await new Promise((resolve) => setTimeout(resolve, exp * 1000 + 1 - Date.now()));
  // The back end decides: PostgREST accepts a token for 30 s longer, to allow for clocks that differ.
  const calls = await service.proxy.during(() => brief.request("GET", "/files"));
  assertEquals(names(calls)[0], "filestore_account_administer");
});
