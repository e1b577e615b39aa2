/**
 * /project/apikeys: keys are created, shown once, rotated, regenerated and revoked. Each change applies from the next
 * request.
 */
import { assert, assertEquals } from "@std/assert";
import { KEY_GRACE_PERIOD_SECONDS_MAX } from "../../supabase/functions/api/limits.ts";
import { type Account, owner } from "../support/client/accounts.ts";
import {
  type Answer,
  assertRefused,
  dataOf,
  issuePaths,
  issuesOf,
  keyList,
  keyRecord,
  rotatedKeyRecord,
} from "../support/client/contract.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

/** The status of a request with the key now. */
async function statusOf(key: string, path = "/files"): Promise<number> {
  return (await service.request(key, "GET", path)).status;
}

async function keysOf(account: Account) {
  return dataOf(await account.request("GET", "/project/apikeys"), "list_api_keys", keyList).keys;
}

async function rotate(account: Account, id: string, body?: Record<string, unknown>) {
  const answer = await account.request("POST", `/project/apikeys/${id}/rotate`, { body });
  return dataOf(answer, "rotate_api_key", rotatedKeyRecord);
}

async function regenerate(account: Account, body?: Record<string, unknown>) {
  const answer = await account.request("POST", "/project/apikey/regenerate", { body });
  return dataOf(answer, "regenerate_api_key", rotatedKeyRecord);
}

/** Revokes a key. */
async function revoke(account: Account, id: string) {
  return dataOf(await account.request("DELETE", `/project/apikeys/${id}`), "revoke_api_key", keyRecord);
}

test("a key is made as asked for, shown once, and works; by default it reads and writes", async () => {
  const account = await owner(service);
  const { key: shown, ...plain } = await account.createKey();
  assertEquals({ ...plain, id: "", prefix: "", createdAt: "" }, {
    ...{ id: "", prefix: "", createdAt: "", name: "", environment: "development", scopes: ["read", "write"] },
    ...{ pathPrefix: null, expiresAt: null, revokedAt: null, lastUsedAt: null, kind: "key" },
  });
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const asked = {
    ...{ name: "ci", environment: "production", scopes: ["read"], pathPrefix: "/agents/a/", expiresAt },
  };
  const { key: _, ...full } = await account.createKey(asked);
  assertEquals({ ...full, ...asked, pathPrefix: "agents/a" }, full);
  assertEquals(await statusOf(shown), 200);
  const listed = await keysOf(account);
  const unused = (keys: typeof listed) => keys.map((key) => ({ ...key, lastUsedAt: null }));
  assertEquals(unused(listed), unused([full, plain]));
  assert(!JSON.stringify(listed).includes(shown), "a key is listed");
  assert(shown.startsWith(plain.prefix), "the prefix tells which key it is");
});

const BAD_FIELDS: readonly (readonly [Record<string, unknown>, string, RegExp])[] = [
  [{ name: "x".repeat(101) }, "name", /100/],
  [{ name: " x" }, "name", /space/],
  [{ name: "a\u0007" }, "name", /control/],
  [{ name: 7 }, "name", /string/],
  [{ environment: "staging" }, "environment", /development/],
  [{ scopes: [] }, "scopes", /at least one/],
  [{ scopes: "read" }, "scopes", /array/],
  [{ scopes: ["delete"] }, "scopes.0", /read/],
  [{ pathPrefix: "" }, "pathPrefix", /./],
  [{ pathPrefix: "/" }, "pathPrefix", /./],
  [{ pathPrefix: "a//b" }, "pathPrefix", /./],
  [{ pathPrefix: "a/../b" }, "pathPrefix", /./],
  [{ pathPrefix: "a\\b" }, "pathPrefix", /./],
  [{ pathPrefix: "x".repeat(1025) }, "pathPrefix", /1024/],
  [{ pathPrefix: "a", scopes: ["read", "admin"] }, "pathPrefix", /admin/],
  [{ expiresAt: "tomorrow" }, "expiresAt", /./],
  [{ expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt", /future/],
  [{ expiresAt: 1_900_000_000 }, "expiresAt", /./],
];

test("400 VALIDATION_ERROR: each bad field of a new key is named with a reason, and no key is made", async () => {
  const account = await owner(service);
  for (const [body, path, reason] of BAD_FIELDS) {
    const refused = await account.request("POST", "/project/apikeys", { body });
    const [issue] = issuesOf(assertRefused(refused, "VALIDATION_ERROR", "create_api_key"));
    const isExplained = reason.test(issue?.reason ?? "");
    assertEquals([issue?.path, isExplained], [path, true], JSON.stringify([body, issue]));
  }
  const { id } = await account.createKey();
  for (const gracePeriodSeconds of [-1, 0.5, KEY_GRACE_PERIOD_SECONDS_MAX + 1, "1"]) {
    for (const path of [`/project/apikeys/${id}/rotate`, "/project/apikey/regenerate"]) {
      const answer = await account.request("POST", path, { body: { gracePeriodSeconds } });
      assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), ["gracePeriodSeconds"]);
    }
  }
  const cut = await account.request("POST", "/project/apikeys", { body: "{" });
  assertRefused(cut, "INVALID_JSON", "create_api_key");
  const xml = { body: "<a/>", headers: { "content-type": "application/xml" } };
  assertRefused(await account.request("POST", "/project/apikeys", xml), "UNSUPPORTED_MEDIA_TYPE");
  assertEquals((await keysOf(account)).length, 1);
});

test("a revoked key is refused with the very next request, by a process that remembers it as good", async () => {
  const account = await owner(service);
  const { id, key } = await account.createKey();
  assertEquals(await statusOf(key), 200);
  const revoked = await revoke(account, id);
  assert(revoked.revokedAt !== null);
  assertEquals(await statusOf(key), 401);
  assertEquals((await revoke(account, id)).revokedAt, revoked.revokedAt);
  const rotated = await account.request("POST", `/project/apikeys/${id}/rotate`);
  assertRefused(rotated, "KEY_REVOKED", "rotate_api_key");
});

test("a rotated key is revoked immediately, or expires after the grace period; the new one has its rights", async () => {
  const account = await owner(service);
  const asked = { name: "ci", scopes: ["read"], pathPrefix: "a", environment: "production" };
  const first = await account.createKey(asked);
  assertEquals(await statusOf(first.key), 200);
  const second = await rotate(account, first.id);
  assertEquals([await statusOf(first.key), await statusOf(second.key)], [401, 200]);
  const { name, scopes, pathPrefix, environment, replaced } = second;
  assertEquals([{ name, scopes, pathPrefix, environment }, replaced?.id], [asked, first.id]);
  const third = await rotate(account, second.id, { gracePeriodSeconds: 600 });
  assertEquals([await statusOf(second.key), await statusOf(third.key)], [200, 200]);
  const ends = Date.parse(third.replaced?.expiresAt ?? "") - Date.now();
  assert(ends > 300_000 && ends < 660_000, `it ends in ${ends} ms`);
  await service.sql("update filestore.api_keys set expires_at = clock_timestamp() where id = $1", [
    second.id,
  ]);
  assertEquals([await statusOf(second.key), await statusOf(third.key)], [401, 200]);
  assertRefused(await account.request("POST", `/project/apikeys/${second.id}/rotate`), "KEY_REVOKED");
});

test("regenerating makes a key where there is none, and replaces the newest that works", async () => {
  const account = await owner(service);
  const first = await regenerate(account);
  assertEquals([first.replaced, first.scopes, await statusOf(first.key)], [null, ["read", "write"], 200]);
  const second = await regenerate(account, {});
  assertEquals(second.replaced?.id, first.id);
  assertEquals([await statusOf(first.key), await statusOf(second.key)], [401, 200]);
  const third = await regenerate(account, { gracePeriodSeconds: 60 });
  assertEquals(third.replaced?.id, second.id);
  assertEquals([await statusOf(second.key), await statusOf(third.key)], [200, 200]);
});

test("404 KEY_NOT_FOUND: another project's key gets the same answer as one that does not exist", async () => {
  const [account, other] = [await owner(service), await owner(service)];
  const theirs = await other.createKey();
  const shown = ({ status, text }: Answer) => [status, text];
  for (const [method, action] of [["POST", "/rotate"], ["DELETE", ""]] as const) {
    const ask = (id: string) => account.request(method, `/project/apikeys/${id}${action}`);
    assertRefused(await ask(theirs.id), "KEY_NOT_FOUND");
    for (const id of ["d0000000-0000-4000-8000-000000000000", "x", "%2F"]) {
      assertEquals(shown(await ask(id)), shown(await ask(theirs.id)), id);
    }
  }
  assertEquals(await statusOf(theirs.key), 200);
});

test("422 KEY_LIMIT_REACHED after 100 active keys, however many are created at the same time; a key can still be rotated", async () => {
  const account = await owner(service);
  const answers = await Promise.all(
    Array.from({ length: 104 }, () => account.request("POST", "/project/apikeys", { body: {} })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  for (const answer of refused) assertEquals(assertRefused(answer, "KEY_LIMIT_REACHED"), { limit: 100 });
  assertEquals(refused.length, 4);
  const [newest] = await keysOf(account);
  const path = `/project/apikeys/${newest?.id}/rotate`;
  const beside = await account.request("POST", path, { body: { gracePeriodSeconds: 1 } });
  assertRefused(beside, "KEY_LIMIT_REACHED");
  assertEquals((await account.request("POST", path)).status, 200);
});

test("a lost answer to a new key or a rotation is asked for again and makes one key, the one that is shown", async () => {
  const account = await owner(service);
  const lose = <T>(work: () => Promise<T>) => service.proxy.losing("", work);
  const made = await lose(() => account.createKey());
  assertEquals([(await keysOf(account)).length, await statusOf(made.key)], [1, 200]);
  const rotated = await lose(() => rotate(account, made.id));
  assertEquals(rotated.replaced?.id, made.id);
  assertEquals((await keysOf(account)).length, 2);
  assertEquals([await statusOf(made.key), await statusOf(rotated.key)], [401, 200]);
});

test("a key says when it was used, within a minute", async () => {
  const account = await owner(service);
  const { id, key } = await account.createKey();
  assertEquals((await keysOf(account))[0]?.lastUsedAt, null);
  await statusOf(key);
  const used = Date.parse((await keysOf(account)).find((listed) => listed.id === id)?.lastUsedAt ?? "");
  assert(Math.abs(used - Date.now()) < 60_000);
});
