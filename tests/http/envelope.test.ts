/** What every response has in common: envelope, headers, unknown routes and methods, CORS, health, prefixes. */
import { assert, assertEquals } from "@std/assert";
import { ERRORS } from "../../supabase/functions/api/errors.ts";
import {
  ADDRESS_REQUESTS_PER_MINUTE,
  NO_LIMIT_SHOWN,
  PREFLIGHT_MAX_AGE_SECONDS,
} from "../../supabase/functions/api/limits.ts";
import {
  type Answer,
  assertRefused,
  dataOf,
  fileList,
  health,
  NO_LIMIT,
  rateOf,
  STATUS_OF,
} from "../support/client/contract.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();

test("each error code of the contract is in the error table, with its status", () => {
  const table = new Map(Object.entries(ERRORS).map(([code, { status }]): [string, number] => [code, status]));
  for (const [code, status] of Object.entries(STATUS_OF)) assertEquals(table.get(code), status, code);
  assertEquals(NO_LIMIT_SHOWN, NO_LIMIT);
});

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

test("200: GET /health?deep asks database and storage", async () => {
  const calls = await service.proxy.during(async () => {
    const answer = await service.request(null, "GET", "/health?deep");
    assertEquals([answer.status, health.parse(answer.body).status], [200, "ok"]);
  });
  assertEquals(calls.map(({ target }) => target).sort(), ["database", "storage"]);
});

test("503: GET /health?deep says degraded, with Retry-After, when database or storage is down", async () => {
  for (const target of ["database", "storage"]) {
    service.proxy.hook = (call, forward) =>
      call.target === target ? new Response("down", { status: 502 }) : forward();
    try {
      const answer = await service.request(null, "GET", "/health?deep");
      assertEquals([answer.status, health.parse(answer.body).status], [503, "degraded"], target);
      const shallow = await service.request(null, "GET", "/health");
      assertEquals([shallow.status, health.parse(shallow.body).status], [200, "ok"]);
    } finally {
      service.proxy.hook = null;
    }
  }
});

const UNKNOWN_ROUTES = [
  ["GET", ""],
  ["GET", "/"],
  ["GET", "/nothing"],
  ["GET", "/file"],
  ["GET", "/filesystem"],
  ["GET", "/FILES"],
  ["GET", "/health/"],
  ["GET", "/health/deep"],
  ["GET", "/files%2Fa"],
  ["POST", "/write"],
  ["DELETE", "/nothing"],
  ["PROPFIND", "/nothing"],
  ["GET", "/api/health"],
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

const WRONG_METHODS = [
  ["DELETE", "/files", "GET, HEAD, POST"],
  ["PUT", "/files", "GET, HEAD, POST"],
  ["PATCH", "/files", "GET, HEAD, POST"],
  ["POST", "/files/a", "GET, HEAD"],
  ["PUT", "/files/append", "GET, HEAD"],
  ["PUT", "/files/edit", "GET, HEAD"],
  ["POST", "/files/", "GET, HEAD"],
  ["PUT", "/files/a", "GET, HEAD"],
  ["PATCH", "/files/a%2Fb", "GET, HEAD"],
  ["POST", "/files/append/a", "GET, HEAD, PUT"],
  ["PATCH", "/files/overwrite/a", "GET, HEAD, PUT"],
  ["PATCH", "/files/edit/a", "GET, HEAD, PUT"],
  ["POST", "/health", "GET, HEAD"],
  ["PUT", "/openapi.json", "GET, HEAD"],
] as const;

for (const [method, path, allowed] of WRONG_METHODS) {
  test(`405 METHOD_NOT_ALLOWED: ${method} ${path}; Allow names ${allowed}`, async () => {
    const answer = await service.request(null, method, path, { body: "{}" });
    assertEquals(assertRefused(answer, "METHOD_NOT_ALLOWED"), {});
    const allow = answer.headers.get("allow")?.split(", ") ?? [];
    for (const expected of allowed.split(", ")) assert(allow.includes(expected), `Allow: ${allow}`);
    assert(!allow.includes(method), `Allow: ${allow}`);
  });
}

for (const path of ["/health", "/files", "/files/a/b", "/files/append/a", "/openapi.json", "/nothing", ""]) {
  test(`204: the CORS preflight of ${path || "(the bare address)"}`, async () => {
    const answer = await service.request(null, "OPTIONS", path, {
      headers: {
        "origin": "https://app.example",
        "access-control-request-method": "PUT",
        "access-control-request-headers": "x-api-key,content-type",
      },
    });
    assertEquals(answer.status, 204);
    const list = (name: string) => (answer.headers.get(name) ?? "").toLowerCase().split(/,\s*/);
    for (
      const header of [
        "content-type",
        "authorization",
        "x-api-key",
        "if-match",
        "if-none-match",
        "idempotency-key",
      ]
    ) assert(list("access-control-allow-headers").includes(header), header);
    for (const method of ["get", "post", "put", "delete"]) {
      assert(list("access-control-allow-methods").includes(method), method);
    }
    assertEquals(answer.headers.get("access-control-max-age"), String(PREFLIGHT_MAX_AGE_SECONDS));
    assert(PREFLIGHT_MAX_AGE_SECONDS >= 3600, "a long max-age");
  });
}

test("health, documents, preflights, 404 and 405 show the address's window and never spend it", async () => {
  const remaining: number[] = [];
  for (
    const [method, path] of [
      ["GET", "/health"],
      ["GET", "/openapi.json"],
      ["OPTIONS", "/files"],
      ["GET", "/nothing"],
      ["DELETE", "/files"],
      ["GET", "/health"],
    ] as const
  ) {
    const rate = rateOf((await service.request(null, method, path)).headers);
    assertEquals(rate.limit, ADDRESS_REQUESTS_PER_MINUTE);
    remaining.push(rate.remaining);
  }
  assertEquals(new Set(remaining).size, 1, String(remaining));
});

test("200: the function answers alike under /functions/v1/api, /api and no prefix at all", async () => {
  const own = await files();
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

test("200: HEAD answers the headers of GET and no body", async () => {
  const own = await files();
  await own.write("a.txt", "hello");
  for (const path of ["/health", "/files", "/files/a.txt", "/files/a.txt?metadata"]) {
    const answer = await own.request("HEAD", path);
    assertEquals([answer.status, answer.text], [200, ""], path);
  }
  const missing = await own.request("HEAD", "/files/none");
  assertEquals([missing.status, missing.text], [404, ""]);
});

test("each response has a request id of its own", async () => {
  const ids = new Set<string | null>();
  for (let count = 0; count < 5; count++) {
    ids.add((await service.request(null, "GET", "/health")).headers.get("x-request-id"));
  }
  assertEquals(ids.size, 5);
});
