/** Keys: every bad key gets the same answer, causes no call to the back end, and stores nothing. */
import { assert, assertEquals } from "@std/assert";
import { generateApiKey } from "../../supabase/functions/api/auth/api_key.ts";
import { ADDRESS_REQUESTS_PER_MINUTE } from "../../supabase/functions/api/limits.ts";
import { newKey } from "../../supabase/local/admin/new_key.ts";
import { type Answer, assertRefused, rateOf } from "../support/client/contract.ts";
import { privateSuite } from "../support/stack/suite.ts";

const { service, files, test } = await privateSuite({});

/** The key with its last character changed, so that its checksum is wrong. */
function mistyped(key: string): string {
  return key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
}

const expire = (id: string) =>
  service.sql("update filestore.api_keys set expires_at = clock_timestamp() where id = $1", [id]);

/** The parts of an answer that must not depend on the kind of bad key. */
function comparable({ status, text, headers }: Answer): unknown {
  const varying = ["x-request-id", "date", "x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit"];
  return { status, text, headers: [...headers].filter(([name]) => !varying.includes(name)) };
}

test("401 INVALID_API_KEY is one and the same answer for malformed, unknown, revoked and expired keys, and one for none", async () => {
  await service.restartFunction();
  const own = await files();
  await own.write("secret.txt", "x");
  const revoked = await service.key(own.project.id);
  await service.revokeKey(revoked.id);
  const expired = await service.key(own.project.id);
  await expire(expired.id);
  const keys: readonly (readonly [string, string | null])[] = [
    ["missing", null],
    ["empty", ""],
    ["without the mark", own.key.slice(3)],
    ["too short", own.key.slice(0, -1)],
    ["too long", `${own.key}A`],
    ["wrong checksum", mistyped(own.key)],
    ["with a space", own.key.replace(/^(.{9})./, "$1 ")],
    ["two keys", `${own.key}, ${own.key}`],
    ["another mark", own.key.replace("oa_", "sk_")],
    ["upper case", own.key.toUpperCase()],
    ["the secret key", service.stack.secretKey],
    ["the publishable key", service.stack.publishableKey],
    ["unknown", (await newKey()).apiKey],
    ["revoked", revoked.key],
    ["expired", expired.key],
  ];
  const requests: readonly (readonly [string, string, unknown?])[] = [
    ["GET", "/files/secret.txt"],
    ["GET", "/files/none"],
    ["GET", "/files?recursive=true"],
    ["GET", "/search?q=x"],
    ["POST", "/files", { path: "new", content: "x" }],
    ["PUT", "/files/append/secret.txt", { content: "x" }],
  ];
  const before = await service.tables();
  for (const [method, path, body] of requests) {
    const answers = { none: new Set<string>(), bad: new Set<string>() };
    for (const [, key] of keys) {
      const answer = await service.request(key, method, path, { body });
      assertEquals(assertRefused(answer, "INVALID_API_KEY"), {});
      assertEquals(answer.headers.get("www-authenticate"), "Bearer");
      answers[key ? "bad" : "none"].add(JSON.stringify(comparable(answer)));
    }
    assertEquals([answers.none.size, answers.bad.size], [1, 1], `${method} ${path}`);
  }
  assertEquals(await service.tables(), before);
});

test("401: junk keys make no back-end call; an unknown key makes one, and then none", async () => {
  await service.restartFunction();
  const { key } = await service.project();
  const junk = [null, "", "oa_", "oa_junk", mistyped(key), key.slice(3), "x".repeat(5000)];
  const calls = await service.proxy.during(async () => {
    for (const bad of junk) {
      const answer = await service.request(bad, "POST", "/files", { body: { path: "a", content: "x" } });
      assertRefused(answer, "INVALID_API_KEY");
    }
  });
  assertEquals(calls.length, 0);
  const unknown = generateApiKey();
  const first = await service.proxy.during(() => service.request(unknown, "GET", "/files"));
  assertEquals(first.length, 1);
  const second = await service.proxy.during(() => service.request(unknown, "GET", "/files"));
  assertEquals(second.length, 0);
});

test("200: Authorization: Bearer is accepted, in any case of the word, and x-api-key wins where both come", async () => {
  const own = await files();
  const stranger = await service.project();
  await own.write("mine", "x");
  const get = (headers: Record<string, string>) => service.request(null, "GET", "/files/mine", { headers });
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    assertEquals((await get({ authorization: `${scheme} ${own.key}` })).status, 200);
  }
  for (const other of ["oa_junk", stranger.key]) {
    assertEquals((await get({ "x-api-key": own.key, "authorization": `Bearer ${other}` })).status, 200);
  }
  const bearer = { authorization: `Bearer ${own.key}` };
  assertRefused(await get({ "x-api-key": "oa_junk", ...bearer }), "INVALID_API_KEY");
  assertRefused(await get({ "x-api-key": stranger.key, ...bearer }), "FILE_NOT_FOUND");
  assertRefused(await get({ authorization: own.key }), "INVALID_API_KEY");
  assertRefused(await get({ authorization: `Basic ${btoa(own.key)}` }), "INVALID_API_KEY");
  const inQuery = await service.request(null, "GET", "/files/mine", { query: { "x-api-key": own.key } });
  assertRefused(inQuery, "INVALID_API_KEY");
});

test("a revoked or expired key is refused at once, although this process remembers it", async (own) => {
  await own.write("a", "x");
  await service.revokeKey(own.project.keyId);
  const before = await service.tables();
  assertRefused(await own.post({ path: "b", content: "small" }), "INVALID_API_KEY");
  assertRefused(await own.request("GET", "/files/a"), "INVALID_API_KEY");
  assertEquals(await service.tables(), before);

  const expiring = await service.key(own.project.id);
  assertEquals((await service.request(expiring.key, "GET", "/files/a")).status, 200);
  await expire(expiring.id);
  assertRefused(await service.request(expiring.key, "GET", "/files/a"), "INVALID_API_KEY");
});

test("unknown, revoked and over-limit keys store no byte, small body or large, remembered or not", async () => {
  const own = await files("free");
  await own.write("f", "x");
  const revoked = await service.key(own.project.id);
  const second = await service.key(own.project.id);
  // The isolate has cached both keys as valid; the database has not.
  for (const { key } of [revoked, second]) {
    assertEquals((await service.request(key, "GET", "/files/f")).status, 200);
  }
  await service.revokeKey(revoked.id);
  await service.freezeWindow(own.project.id, 100);
  const keys = [
    ...[generateApiKey(), revoked.key].map((key) => [key, "INVALID_API_KEY"] as const),
    ...[second.key, own.key].map((key) => [key, "RATE_LIMIT_EXCEEDED"] as const),
  ];
  const writes = [["POST", "/files"], ["PUT", "/files/append/f"], ["PUT", "/files/overwrite/f"]] as const;
  const before = await service.tables();
  for (const content of ["small", "large ".repeat(50_000)]) {
    for (const [method, path] of writes) {
      for (const [key, code] of keys) {
        assertRefused(await service.request(key, method, path, { body: { path: "g", content } }), code);
        assertEquals(await service.tables(), before, `${code} ${method} ${path}`);
      }
    }
  }
});

test("a large body of an unknown or over-limit key is refused before anything is uploaded", async () => {
  const own = await files("free");
  await service.freezeWindow(own.project.id, 100);
  const body = { path: "g", content: "large ".repeat(50_000) };
  const address = async () => rateOf((await service.request(null, "GET", "/health")).headers).remaining;
  await withinOneMinute(async () => {
    for (const [key, failures] of [[generateApiKey(), 1], [own.key, 0]] as const) {
      const before = await address();
      const calls = await service.proxy.during(() => service.request(key, "POST", "/files", { body }));
      assertEquals(calls.map(({ target }) => target), ["database"]);
      assertEquals(before - await address(), failures, "failed authentications spent");
    }
  });
});

/**
 * Runs `work`, which counts within clock minutes, on a process that has counted nothing yet. Repeats it if a minute
 * ended meanwhile.
 */
async function withinOneMinute(work: () => Promise<void>): Promise<void> {
  const minute = () => Math.floor(Date.now() / 60_000);
  for (let tries = 0; tries < 5; tries++) {
    await service.restartFunction();
    const before = minute();
    const failure: unknown = await work().then(() => null, (error) => error);
    if (minute() !== before) continue;
    if (failure !== null) throw failure;
    return;
  }
  throw new Error("no minute is long enough");
}

test("429: an address has 100 failed authentications a minute; good keys neither spend nor feel it", async () => {
  const own = await files();
  await withinOneMinute(async () => {
    const remaining: number[] = [];
    for (let count = 0; count < ADDRESS_REQUESTS_PER_MINUTE; count++) {
      const answer = await service.request(count % 2 ? null : "oa_junk", "GET", "/files");
      assertRefused(answer, "INVALID_API_KEY");
      assertEquals(rateOf(answer.headers).limit, ADDRESS_REQUESTS_PER_MINUTE);
      remaining.push(rateOf(answer.headers).remaining);
      if (count % 10 === 0) assertEquals((await own.request("GET", "/files")).status, 200);
    }
    assertEquals(ADDRESS_REQUESTS_PER_MINUTE, 100);
    assertEquals(remaining, Array.from({ length: 100 }, (_, index) => 99 - index));
    for (const key of [null, "oa_junk", mistyped(own.key), generateApiKey()]) {
      const before = Date.now() / 1000;
      const answer = await service.request(key, "GET", "/files");
      assertRefused(answer, "RATE_LIMIT_EXCEEDED");
      const { remaining, reset } = rateOf(answer.headers);
      assertEquals(remaining, 0);
      const wait = Number(answer.headers.get("retry-after"));
      assert(wait >= reset - Date.now() / 1000 - 1 && wait <= reset - before + 1, `Retry-After ${wait}`);
    }
    assertEquals((await own.request("GET", "/files")).status, 200);
    assertEquals((await service.request(null, "GET", "/health")).status, 200);
    // Behind the gateway, a client's own statement of its address is ignored.
    const names = ["x-forwarded-for", "cf-connecting-ip", "x-real-ip"];
    const headers = Object.fromEntries(names.map((name) => [name, "203.0.113.9"]));
    assertRefused(await service.request(null, "GET", "/files", { headers }), "RATE_LIMIT_EXCEEDED");
  });
});

test("the address is the last hop of X-Forwarded-For, or what the platform's edge says", () =>
  withinOneMinute(() =>
    service.withBareFunction(async (origin) => {
      const remaining = async (headers: Record<string, string>) =>
        rateOf((await service.requestAt(`${origin}/api/files`, "GET", headers)).headers).remaining;
      const first = await remaining({ "x-forwarded-for": "198.51.100.1, 203.0.113.1" });
      assertEquals(await remaining({ "x-forwarded-for": "anything, 203.0.113.1" }), first - 1);
      assertEquals(await remaining({ "x-forwarded-for": "203.0.113.1, 203.0.113.2" }), 99);
      const edge = { "x-forwarded-for": "x, 203.0.113.1", "cf-connecting-ip": "203.0.113.3" };
      assertEquals(await remaining(edge), 99);
    })
  ));
