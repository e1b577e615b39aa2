/** Properties of every response: envelope, headers, unknown routes and methods, CORS, health, prefixes. */
import { assert, assertEquals } from "@std/assert";
import { type Answer, assertRefused, dataOf, fileList, health } from "../support/client/contract.ts";
import cases from "../acceptance/envelope.ts";
import { acceptance, suite } from "../support/stack/suite.ts";

const { service, test } = await suite();

await acceptance(cases);

test("200: GET /health answers its record without a key, without an envelope and without a back-end call", async () => {
  const calls = await service.proxy.during(async () => {
    const answer = await service.request(null, "GET", "/health");
    assertEquals(answer.status, 200);
    const { status, timestamp } = health.parse(answer.body);
    assertEquals(status, "ok");
    assert(Math.abs(Date.parse(timestamp) - Date.now()) < 10_000);
  });
  assertEquals(calls.length, 0);
});

test("GET /health takes deep=true and deep=false, and no other value", async () => {
  const ask = async (query: string) => await service.request(null, "GET", `/health?${query}`);
  for (const [query, isDeep] of [["deep", true], ["deep=true", true], ["deep=false", false]] as const) {
    const { message } = health.parse((await ask(query)).body);
    assertEquals(message.includes("database"), isDeep, query);
  }
  for (const query of ["deep=1", "deep=TRUE", "deep=%00", "deep&deep"]) {
    const calls = await service.proxy.during(async () => {
      assertEquals((await ask(query)).status, 400, query);
    });
    assertEquals(calls.length, 0);
  }
});

const UNKNOWN_ROUTES = [
  ...[
    "",
    "/",
    "/nothing",
    "/file",
    "/filesystem",
    "/FILES",
    "/health/",
    "/health/deep",
    "/files%2Fa",
    "/api/health",
  ]
    .map((path) => ["GET", path] as const),
  ["POST", "/write"],
  ["DELETE", "/nothing"],
  ["PROPFIND", "/nothing"],
] as const;

for (const [method, path] of UNKNOWN_ROUTES) {
  test(`404 ROUTE_NOT_FOUND: ${method} ${path || "(the bare address)"}, with and without a key`, async () => {
    const { key } = await service.project("free");
    for (const sent of [null, key, "junk"]) {
      const answer = await service.request(sent, method, path);
      assertEquals(assertRefused(answer, "ROUTE_NOT_FOUND"), {});
      assertEquals(Object.keys(Object(answer.body)), ["success", "error"]);
    }
  });
}

test("200: the function answers alike under /functions/v1/api, /api and no prefix at all", async (own) => {
  await own.write("api/a.txt", "x");
  await service.withBareFunction(async (origin) => {
    const answers: Answer[] = [];
    for (const prefix of ["/functions/v1/api", "/api", ""]) {
      const answer = await service.requestAt(`${origin}${prefix}/files?recursive=true`, "GET", {
        "x-api-key": own.key,
      });
      assertEquals(dataOf(answer, "list_files", fileList).files.map(({ path }) => path), ["api/a.txt"]);
      const missing = await service.requestAt(`${origin}${prefix}/apis`, "GET");
      assertRefused(missing, "ROUTE_NOT_FOUND");
      answers.push(answer);
    }
    assertEquals(new Set(answers.map(({ text }) => text)).size, 1);
  });
});
