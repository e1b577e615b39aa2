/** Properties of every response: envelope, headers, unknown routes and methods, CORS, health, prefixes. */
import { assert, assertEquals } from "@std/assert";

import { ADDRESS_REQUESTS_PER_MINUTE } from "./limits.ts";
import { assertRefused, rateOf } from "../support/client/contract.ts";
import { area, files, request } from "./suite.ts";

const { test, testOfHead, cases } = area("Envelope, routes, CORS");
export default cases;

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
  ["POST", "/llms.txt", "GET, HEAD"],
] as const;

for (const [method, path, allowed] of WRONG_METHODS) {
  test(`405 METHOD_NOT_ALLOWED: ${method} ${path}; Allow names ${allowed}`, async () => {
    const answer = await request(null, method, path, { body: "{}" });
    assertEquals(assertRefused(answer, "METHOD_NOT_ALLOWED"), {});
    const allow = answer.headers.get("allow")?.split(", ") ?? [];
    for (const expected of allowed.split(", ")) assert(allow.includes(expected), `Allow: ${allow}`);
    assert(!allow.includes(method), `Allow: ${allow}`);
  });
}

for (const path of ["/health", "/files", "/files/a/b", "/files/append/a", "/openapi.json", "/nothing", ""]) {
  test(`204: the CORS preflight of ${path || "(the bare address)"}`, async () => {
    const answer = await request(null, "OPTIONS", path, {
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
        ..."content-type authorization x-api-key if-match if-none-match idempotency-key".split(" "),
      ]
    ) assert(list("access-control-allow-headers").includes(header), header);
    for (const method of ["get", "post", "put", "delete"]) {
      assert(list("access-control-allow-methods").includes(method), method);
    }
    assert(Number(answer.headers.get("access-control-max-age")) >= 3600, "a long max-age");
  });
}

test("health, documents, preflights, 404 and 405 show the address's window and never spend it", async () => {
  const remaining: number[] = [];
  for (
    const [method, path] of [
      ["GET", "/health"],
      ["GET", "/openapi.json"],
      ["GET", "/llms.txt"],
      ["OPTIONS", "/files"],
      ["GET", "/nothing"],
      ["DELETE", "/files"],
      ["GET", "/health"],
    ] as const
  ) {
    const rate = rateOf((await request(null, method, path)).headers);
    assertEquals(rate.limit, ADDRESS_REQUESTS_PER_MINUTE);
    remaining.push(rate.remaining);
  }
  assertEquals(new Set(remaining).size, 1, String(remaining));
});

testOfHead("200: HEAD answers the headers of GET and no body", async () => {
  const own = await files();
  await own.write("a.txt", "hello");
  for (const path of ["/health", "/files", "/files/a.txt", "/files/a.txt?metadata"]) {
    const answer = await own.request("HEAD", path);
    assertEquals([answer.status, answer.text], [200, ""], path);
  }
  const missing = await own.request("HEAD", "/files/none");
  assertEquals([missing.status, missing.text], [404, ""]);
});

test("each answer has a request id of its own", async () => {
  const ids = new Set<string | null>();
  for (let count = 0; count < 5; count++) {
    ids.add((await request(null, "GET", "/health")).headers.get("x-request-id"));
  }
  assertEquals(ids.size, 5);
});
