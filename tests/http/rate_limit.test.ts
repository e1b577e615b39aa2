/**
 * The rate limit is exact at its edge, separate for each project, reset with the window, and checked in the same
 * database call as the operation.
 */
import { assert, assertEquals } from "@std/assert";
import { type Answer, assertRefused, NO_LIMIT, rateOf } from "../support/client/contract.ts";
import { inParallel } from "../support/in_parallel.ts";
import { IS_LONG } from "../support/runner/long.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

/** Sends `count` requests, `atOnce` of them at a time. */
const burst = (count: number, atOnce: number, send: (index: number) => Promise<Answer>) =>
  inParallel(Array.from({ length: count }, (_, index) => index), atOnce, send);

function countByStatus(answers: readonly Answer[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const LIMITS = [["free", 100], ["pro", 1000]] as const;

for (const [tier, limit] of IS_LONG ? LIMITS : LIMITS.slice(0, 1)) {
  test(`429 RATE_LIMIT_EXCEEDED after exactly ${limit} requests of a ${tier} project, one after the other`, async () => {
    const { id, key } = await service.project(tier);
    await service.freezeWindow(id);
    for (let remaining = limit - 1; remaining >= 0; remaining--) {
      const answer = await service.request(key, "GET", "/files?limit=1");
      assertEquals(answer.status, 200, `with ${remaining} remaining`);
      assertEquals([rateOf(answer.headers).limit, rateOf(answer.headers).remaining], [limit, remaining]);
    }
    for (let more = 0; more < 3; more++) {
      const answer = await service.request(key, "GET", "/files");
      assertEquals(assertRefused(answer, "RATE_LIMIT_EXCEEDED", "list_files"), {});
      assertEquals([rateOf(answer.headers).limit, rateOf(answer.headers).remaining], [limit, 0]);
    }
    const [row] = await service.sql(
      "select sum(request_count)::integer as request_count from filestore.rate_windows where project_id = $1",
      [id],
    );
    assertEquals(row, { request_count: limit }, "a 429 costs nothing");
  });
}

for (const [tier, limit] of LIMITS) {
  test(`a burst over the edge of a ${tier} project admits exactly ${limit}, over two keys and two processes`, async () => {
    const { id, key } = await service.project(tier);
    const second = await service.key(id);
    await service.withBareFunction(async (origin) => {
      const spare = 40;
      await service.freezeWindow(id, limit - 60);
      const answers = await burst(60 + spare, 20, (index) => {
        const sent = index % 2 ? key : second.key;
        if (index % 3) return service.request(sent, "GET", "/files?limit=1");
        return service.requestAt(`${origin}/api/files?limit=1`, "GET", { "x-api-key": sent });
      });
      assertEquals(countByStatus(answers), { 200: 60, 429: spare });
      const ok = answers.filter(({ status }) => status === 200);
      const admitted = ok.map(({ headers }) => rateOf(headers).remaining);
      // `remaining` may lag by the requests in flight, but is never too low.
      assert(admitted.sort((a, b) => a - b).every((remaining, place) => remaining >= place), `${admitted}`);
    });
  });
}

test("the window counts per project: two keys share it, two projects do not", async () => {
  const first = await service.project("free");
  const other = await service.project("free");
  const second = await service.key(first.id);
  for (const { id } of [first, other]) await service.freezeWindow(id);
  const remaining = async (key: string) =>
    rateOf((await service.request(key, "GET", "/files")).headers).remaining;
  assertEquals(await remaining(first.key), 99);
  assertEquals(await remaining(second.key), 98);
  assertEquals(await remaining(first.key), 97);
  assertEquals(await remaining(other.key), 99);
  await service.freezeWindow(first.id, 100);
  assertRefused(await service.request(second.key, "GET", "/files"), "RATE_LIMIT_EXCEEDED");
  assertRefused(await service.request(first.key, "GET", "/files"), "RATE_LIMIT_EXCEEDED");
  assertEquals(await remaining(other.key), 98);
});

test("every request with a valid key counts one, whatever its outcome and however many calls it takes", async () => {
  const own = await files("free");
  await service.freezeWindow(own.project.id);
  const large = "x".repeat(100_000);
  const requests: readonly (readonly [string, string, unknown, number])[] = [
    ["POST", "/files", { path: "f", content: large }, 200],
    ["PUT", "/files/append/f", { content: large }, 200],
    ["PUT", "/files/overwrite/f", { content: "small" }, 200],
    ["PUT", "/files/edit/f", { oldString: "small", newString: large.slice(0, 90_000) }, 200],
    ["PUT", "/files/edit/f", { oldString: "none", newString: "x" }, 422],
    ["GET", "/files/f", undefined, 200],
    ["GET", "/files/none", undefined, 404],
    ["GET", "/files/f?version=9", undefined, 404],
    ["GET", "/files?limit=0", undefined, 400],
    ["POST", "/files", "{", 400],
    ["PUT", "/files/append/none", { content: "x" }, 404],
    ["HEAD", "/files/f", undefined, 200],
  ];
  for (const [index, [method, path, body, status]] of requests.entries()) {
    const answer = await own.request(method, path, { body });
    const { remaining } = rateOf(answer.headers);
    assertEquals([answer.status, remaining], [status, 99 - index], `${method} ${path}`);
  }
});

test("the window is the clock minute; a new one starts full, and Retry-After says when", async () => {
  const own = await files("free");
  const sent = Date.now() / 1000;
  const answer = await own.request("GET", "/files");
  const { reset } = rateOf(answer.headers);
  assert(reset > sent && reset <= Date.now() / 1000 + 60, "the current minute's end");
  // Sets the window to the previous minute, whose count no longer matters.
  await service.sql(
    `update filestore.rate_windows set request_count = (163 - shard) / 64, window_start = window_start - interval '1 minute'
     where project_id = $1`,
    [own.project.id],
  );
  const next = await own.request("GET", "/files");
  assertEquals([next.status, rateOf(next.headers).remaining], [200, 99]);
  await service.sql(
    `update filestore.rate_windows set request_count = 2, window_start = date_trunc('minute', clock_timestamp())
     where project_id = $1`,
    [own.project.id],
  );
  const before = Date.now() / 1000;
  const refused = await own.request("GET", "/files");
  if (refused.status === 200) return; // The minute has just ended, so the next line would count in a new window.
  assertRefused(refused, "RATE_LIMIT_EXCEEDED");
  const wait = Number(refused.headers.get("retry-after"));
  const ends = rateOf(refused.headers).reset;
  assert(wait >= 1 && wait >= ends - Date.now() / 1000 - 1 && wait <= ends - before + 1, `${wait} s`);
});

test("a project whose window was used up is admitted again in the next window, by any process", async () => {
  const own = await files("free");
  await service.freezeWindow(own.project.id, 99);
  assertEquals((await own.request("GET", "/files")).status, 200);
  assertRefused(await own.request("GET", "/files"), "RATE_LIMIT_EXCEEDED");
  await service.sql(
    "update filestore.rate_windows set window_start = date_trunc('minute', now()) - interval '1 minute' where project_id = $1",
    [own.project.id],
  );
  await service.restartFunction();
  const answer = await own.request("GET", "/files");
  assertEquals([answer.status, rateOf(answer.headers).remaining], [200, 99]);
});

test("no limit shows 2147483647 for both numbers, and no request is ever refused for it", async () => {
  const own = await files("enterprise");
  const answers = await burst(150, 10, () => own.request("GET", "/files?limit=1"));
  assertEquals(countByStatus(answers), { 200: 150 });
  for (const { headers } of answers) {
    assertEquals([rateOf(headers).limit, rateOf(headers).remaining], [NO_LIMIT, NO_LIMIT]);
  }
  const windows = "select from filestore.rate_windows where project_id = $1";
  assertEquals(await service.sql(windows, [own.project.id]), [], "no window is kept for it");
});

test("a project's own limit replaces its tier's, up and down, from the next request on", async () => {
  const own = await files("enterprise", { requestsPerMinute: 3 });
  await service.freezeWindow(own.project.id);
  const statuses: number[] = [];
  for (let count = 0; count < 5; count++) statuses.push((await own.request("GET", "/files")).status);
  assertEquals(statuses, [200, 200, 200, 429, 429]);
  const other = await files("free", { requestsPerMinute: 2000 });
  await service.freezeWindow(other.project.id, 500);
  const rate = rateOf((await other.request("GET", "/files")).headers);
  assertEquals([rate.limit, rate.remaining], [2000, 1499]);
  await service.setTier(other.project.id, "free");
  assertRefused(await other.request("GET", "/files"), "RATE_LIMIT_EXCEEDED");
});

test("a 429 does nothing: no version, no change, and once it is known no back-end call", async () => {
  const own = await files("free");
  await own.write("f", "kept");
  await service.freezeWindow(own.project.id, 100);
  const before = await service.tables();
  const first = await service.proxy.during(() => own.request("GET", "/files/f"));
  assertEquals(first.length, 1);
  const requests = [
    ...["/files/f", "/files"].map((path) => ["GET", path, undefined] as const),
    ["POST", "/files", { path: "f", content: "x" }] as const,
    ...["append", "overwrite"].map((route) => ["PUT", `/files/${route}/f`, { content: "x" }] as const),
    ["PUT", "/files/edit/f", { oldString: "kept", newString: "x" }] as const,
  ];
  const calls = await service.proxy.during(async () => {
    for (const [method, path, body] of requests) {
      assertRefused(await own.request(method, path, { body }), "RATE_LIMIT_EXCEEDED");
    }
  });
  assertEquals(calls.length, 0);
  assertEquals(await service.tables(), before);
});
