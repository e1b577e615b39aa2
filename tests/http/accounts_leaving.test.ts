/** Access that was deleted, banned or transferred is refused at once, even if an isolate has cached it. */
import { assertEquals, assertNotEquals } from "@std/assert";
import { Administration } from "../../supabase/local/admin/administration.ts";
import { claimsOf, owner, signUp } from "../support/client/accounts.ts";
import { assertRefused } from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

const SUSPENDED = { suspended: true };

const LEAVING: readonly (readonly [string, string])[] = [
  ["deleted", "delete from auth.users where id = $1"],
  ["banned", "update auth.users set banned_until = now() + interval '1 hour' where id = $1"],
];

for (const [what, change] of LEAVING) {
  test(`the keys, the console and the token of an account that was ${what} are refused at once`, async () => {
    const account = await owner(service);
    const { key } = await account.createKey({ scopes: ["read", "write"] });
    const { key: admin } = await account.createKey({ scopes: ["admin"] });
    const files = new Files(service, key);
    await files.write("f.txt", "written");
    const inConsole = () => account.request("GET", "/files/f.txt");
    assertEquals((await inConsole()).status, 200);
    await service.sql(change, [claimsOf(account.token)["sub"]]);
    const refused = [
      await files.post({ path: "g.txt", content: "" }),
      await files.put("append", "f.txt", { content: "x".repeat(100_000) }),
      await files.request("GET", "/files/f.txt"),
      await service.request(admin, "POST", "/project/apikeys", { body: {} }),
      await inConsole(),
    ];
    for (const answer of refused) assertEquals(assertRefused(answer, "FORBIDDEN_SCOPE"), SUSPENDED);
    const another = await account.request("POST", "/projects", { body: { name: "another" } });
    assertRefused(another, "INVALID_SESSION");
    assertRefused(await account.request("POST", "/project/apikeys", { body: {} }), "INVALID_SESSION");
    const projects = "select from filestore.projects where owner_id = $1";
    assertEquals((await service.sql(projects, [claimsOf(account.token)["sub"]])).length, 1);
  });
}

test("a project that is given away is closed to its former owner at once, also when the new owner works in it", async () => {
  const [former, next] = [await owner(service), await signUp(service)];
  const read = (account: typeof next) => account.about(former.projectId).request("GET", "/files/f.txt");
  await former.request("POST", "/files", { body: { path: "f.txt", content: "for the owner" } });
  assertEquals((await read(former)).status, 200, "the isolate remembers the session");
  const administration = new Administration(service.stack.backendUrl, service.stack.secretKey);
  await administration.updateProject(former.projectId, { owner: String(claimsOf(next.token)["email"]) });
  assertEquals((await read(next)).status, 200);
  // The isolate tries its cached session once and answers "try again"; after that the project does not exist.
  const first = await read(former);
  assertNotEquals(first.status, 200);
  assertEquals(first.text.includes("for the owner"), false);
  assertRefused(await read(former), "PROJECT_NOT_FOUND");
  assertEquals((await read(next)).status, 200);
});
