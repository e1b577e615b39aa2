/** PATCH /project/apikeys/{id} changes a key's name and expiry, and can only reduce the key's rights. */
import { assert, assertEquals } from "@std/assert";
import { type Account, owner } from "../support/client/accounts.ts";
import type { Answer } from "../support/client/contract.ts";
import { assertRefused, dataOf, issuePaths, keyRecord, newLink } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { runCommand } from "../support/stack/command.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

const OPERATION = "update_api_key";
const change = (account: Account, id: string, body: unknown): Promise<Answer> =>
  account.request("PATCH", `/project/apikeys/${id}`, { body });
const changed = async (account: Account, id: string, body: unknown) =>
  dataOf(await change(account, id, body), OPERATION, keyRecord);

test("the owner, and a key with admin, change a key's name and expiry; what is not given stays", async () => {
  const account = await owner(service);
  const { key: _, ...made } = await account.createKey({ name: "before", scopes: ["read", "write"] });
  const renamed = await changed(account, made.id, { name: "after" });
  assertEquals(renamed, { ...made, name: "after" });
  const { key: admin } = await account.createKey({ scopes: ["admin"] });
  const expiresAt = "2040-01-01T12:00:00.000Z";
  const path = `/project/apikeys/${made.id}`;
  const answer = await service.request(admin, "PATCH", path, { body: { expiresAt } });
  assertEquals(dataOf(answer, OPERATION, keyRecord), { ...renamed, expiresAt });
  for (const body of [{}, { name: null, expiresAt: null, scopes: null, pathPrefix: null }]) {
    assertEquals(await changed(account, made.id, body), { ...renamed, expiresAt });
  }
  assertEquals((await changed(account, made.id, { name: "" })).name, "");
});

test("scopes and prefix are narrowed at once, for the key, an isolate that remembers it, and its links", async () => {
  const account = await owner(service);
  const { key, id } = await account.createKey({ scopes: ["read", "write"] });
  const own = new Files(service, key);
  for (const path of ["a/in.txt", "out.txt"]) await own.write(path, path);
  const answer = await own.request("POST", "/links", { body: { path: "out.txt", for: "read" } });
  const link = newLink.parse(Object(answer.body).data);
  assertEquals(await (await fetch(link.url)).text(), "out.txt");

  assertEquals((await changed(account, id, { pathPrefix: "/a/" })).pathPrefix, "a");
  assertEquals(await own.paths({ recursive: true }), ["a/in.txt"]);
  assertRefused(await own.request("GET", "/files/out.txt"), "FILE_NOT_FOUND");
  assertRefused(await own.post({ path: "out.txt", content: "x" }), "FORBIDDEN_SCOPE");
  assert((await fetch(link.url)).status >= 400, "the link acts as the key");

  assertEquals((await changed(account, id, { scopes: ["read"] })).scopes, ["read"]);
  assertRefused(await own.post({ path: "a/in.txt", content: "x" }), "FORBIDDEN_SCOPE");
  assertEquals((await own.read("a/in.txt")).content, "a/in.txt");
});

test("nothing can be widened, and a refused change changes nothing", async () => {
  const account = await owner(service);
  const { key: _, ...made } = await account.createKey({ scopes: ["read"], pathPrefix: "a/b" });
  const wider: Readonly<Record<string, readonly unknown[]>> = {
    scopes: [["read", "write"], []],
    pathPrefix: ["a", "a/bc", "../x"],
    name: [" x", 1],
    expiresAt: ["2001-01-01T00:00:00Z", "tomorrow"],
  };
  const refused = Object.entries(wider).flatMap(([field, values]) =>
    values.map((value) => [{ [field]: value }, field] as const)
  );
  for (const [body, path] of [...refused, [{ scopes: ["admin"] }, "pathPrefix"]] as const) {
    const answer = await change(account, made.id, { name: "changed", ...body });
    const paths = issuePaths(assertRefused(answer, "VALIDATION_ERROR"));
    assert(paths.some((one) => one === path || one.startsWith(`${path}.`)), JSON.stringify(body));
  }
  const { key: __, ...admin } = await account.createKey({ scopes: ["admin", "read"] });
  const both = await change(account, admin.id, { pathPrefix: "a" });
  assertEquals(issuePaths(assertRefused(both, "VALIDATION_ERROR")), ["pathPrefix"]);
  const listed = await account.request("GET", "/project/apikeys");
  assert(listed.text.includes(JSON.stringify(made)) && listed.text.includes(JSON.stringify(admin)));
  const narrow = { scopes: ["read"], pathPrefix: "a" };
  assertEquals(await changed(account, admin.id, narrow), { ...admin, ...narrow });
});

test("a key that has ended, another project's and none are not changed", async () => {
  const [account, other] = [await owner(service), await owner(service)];
  const { id } = await account.createKey();
  assertRefused(await change(other, id, { name: "x" }), "KEY_NOT_FOUND", OPERATION);
  assertRefused(await change(account, "none", { name: "x" }), "KEY_NOT_FOUND", OPERATION);
  const { key: writer } = await account.createKey({ scopes: ["read", "write"] });
  const byWriter = await service.request(writer, "PATCH", `/project/apikeys/${id}`, { body: { name: "x" } });
  assertRefused(byWriter, "FORBIDDEN_SCOPE", OPERATION);
  await account.request("DELETE", `/project/apikeys/${id}`);
  assertRefused(await change(account, id, { name: "x" }), "KEY_REVOKED", OPERATION);
  const { id: expired } = await account.createKey();
  await service.sql("update filestore.api_keys set expires_at = now() where id = $1", [expired]);
  const revived = await change(account, expired, { expiresAt: "2040-01-01T00:00:00Z" });
  assertRefused(revived, "KEY_REVOKED", OPERATION);
});

test("deno task keys update changes what is given, and narrows", async () => {
  const account = await owner(service);
  const { id } = await account.createKey({ name: "before", scopes: ["read", "write"] });
  const { supabaseUrl, secretKey } = service.stack;
  const run = async (...args: string[]) => {
    const stack = ["--url", supabaseUrl, "--secret-key", secretKey, "--json"];
    const finished = await runCommand("keys.ts", "update", id, ...args, ...stack);
    return [finished.code, finished.code === 0 ? JSON.parse(finished.stdout)[0] : finished.stderr];
  };
  const [code, key] = await run("--name", "after", "--scopes", "read", "--prefix", "a/");
  assertEquals([code, key.name, key.scopes, key.pathPrefix], [0, "after", ["read"], "a"]);
  const [later, extended] = await run("--expires", "2040-01-31");
  assertEquals([later, extended.name, extended.expiresAt], [0, "after", "2040-01-31T00:00:00.000Z"]);
  assertEquals((await run("--scopes", "read,write"))[0], 1);
  const [none, problem] = await run();
  assertEquals([none, String(problem).includes("requires --name")], [1, true]);
});
