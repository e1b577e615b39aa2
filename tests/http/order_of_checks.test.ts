/**
 * If several things are wrong, the contract defines which is reported: route and method, key and limits, path and
 * query, media type, JSON, fields, content size, file exists, tier size.
 */
import { assertEquals } from "@std/assert";
import { CONTENT_LENGTH_MAX } from "../../supabase/functions/api/limits.ts";
import { assertRefused, type Code, rateOf, statusOf } from "../support/client/contract.ts";
import { owner } from "../support/client/accounts.ts";
import { App } from "../support/client/oauth.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();
const own = await files("free");
await own.write("f.txt", "kept");
const exhausted = await service.project("free");

type Key = "good" | "junk" | "none" | "over its limit";

const TOO_LONG = JSON.stringify({ content: "x".repeat(CONTENT_LENGTH_MAX + 1) });
const xml = "application/xml";

/** The faults, the key, the request, the expected code; the body and its type. */
const ROWS: readonly (readonly [string, Key, string, Code, string?, string?])[] = [
  ["route, key, body", "junk", "POST /nothing", "ROUTE_NOT_FOUND", "{"],
  ["route, limit", "over its limit", "GET /nothing", "ROUTE_NOT_FOUND"],
  ["method, key, path", "none", "PATCH /files/..%2F", "METHOD_NOT_ALLOWED"],
  ["method, limit", "over its limit", "PATCH /files", "METHOD_NOT_ALLOWED"],
  ["key, path", "junk", "GET /files/a%2F..", "INVALID_API_KEY"],
  ["key, query", "none", "GET /files?limit=0", "INVALID_API_KEY"],
  ["key, media type, JSON", "junk", "POST /files", "INVALID_API_KEY", "{", xml],
  ["key, content size", "junk", "PUT /files/append/f.txt", "INVALID_API_KEY", TOO_LONG],
  ["key, missing file", "none", "GET /files/none", "INVALID_API_KEY"],
  ["limit, path", "over its limit", "GET /files/a%2F..", "RATE_LIMIT_EXCEEDED"],
  ["limit, query", "over its limit", "GET /files?limit=0", "RATE_LIMIT_EXCEEDED"],
  ["limit, media type, JSON", "over its limit", "POST /files", "RATE_LIMIT_EXCEEDED", "{", xml],
  ["limit, content size", "over its limit", "PUT /files/overwrite/x", "RATE_LIMIT_EXCEEDED", TOO_LONG],
  ["path, media type, JSON", "good", "PUT /files/edit/a%2F..", "INVALID_PATH", "{", xml],
  ["path, JSON", "good", "PUT /files/append/%ff", "INVALID_PATH", "{"],
  ["path, fields", "good", "PUT /files/overwrite/a%2F", "INVALID_PATH", "{}"],
  ["path, missing file", "good", "GET /files/none%2F", "INVALID_PATH"],
  ["query, missing file", "good", "GET /files/none?version=0", "VALIDATION_ERROR"],
  ["query, missing version", "good", "GET /files/f.txt?version=9&encoding=x", "VALIDATION_ERROR"],
  ["media type, JSON", "good", "POST /files", "UNSUPPORTED_MEDIA_TYPE", "{", xml],
  ["media type, fields", "good", "PUT /files/edit/f.txt", "UNSUPPORTED_MEDIA_TYPE", "{}", xml],
  ["media type, missing file", "good", "PUT /files/edit/none", "UNSUPPORTED_MEDIA_TYPE", "{}", xml],
  ["JSON, fields", "good", "POST /files", "INVALID_JSON", '{"path":7,}'],
  ["JSON, missing file", "good", "PUT /files/append/none", "INVALID_JSON", "{"],
  ["JSON, missing file (edit)", "good", "PUT /files/edit/none", "INVALID_JSON", "{"],
  ["fields, missing file", "good", "PUT /files/append/none", "VALIDATION_ERROR", '{"content":""}'],
  ["no bytes, missing file (raw append)", "good", "PUT /files/append/none?raw", "VALIDATION_ERROR", ""],
  ["fields, missing file (edit)", "good", "PUT /files/edit/none", "VALIDATION_ERROR", '{"oldString":""}'],
  ["fields, content size", "good", "PUT /files/append/f.txt", "VALIDATION_ERROR", tooLong('"isBase64":7')],
  ["path in the body, content size", "good", "POST /files", "INVALID_PATH", tooLong('"path":"/"')],
  ["content size, missing file", "good", "PUT /files/append/none", "CONTENT_TOO_LARGE", TOO_LONG],
  ["missing file, tier size", "good", "PUT /files/overwrite/none", "FILE_NOT_FOUND", over()],
  ["missing file, tier size (append)", "good", "PUT /files/append/none", "FILE_NOT_FOUND", over()],
  ["tier size alone", "good", "PUT /files/overwrite/f.txt", "CONTENT_TOO_LARGE", over()],
];

test("of several faults the first in the order of the checks is told, counted once, and nothing is changed", async () => {
  const keys = { "over its limit": exhausted.key, "junk": "oa_junk", "none": null };
  // For a key that the isolate meets for the first time, it asks the database first.
  const newKeys = await Promise.all(ROWS.map(() => service.key(own.project.id)));
  await service.freezeWindow(exhausted.id, 100);
  const before = await service.tables();
  for (const [index, [wrong, as, request, code, body, type]] of ROWS.entries()) {
    const [method = "", path = ""] = request.split(" ");
    for (const key of as === "good" ? [own.key, newKeys[index]?.key ?? null] : [keys[as]]) {
      await service.freezeWindow(own.project.id);
      const headers = { ...type !== undefined && { "content-type": type } };
      const answer = await service.request(key, method, path, { body, headers });
      assertEquals([wrong, answer.status], [wrong, statusOf(code)], answer.text);
      assertRefused(answer, code);
      if (as === "good") assertEquals([wrong, rateOf(answer.headers).remaining], [wrong, 99], "counted once");
    }
  }
  assertEquals(await service.tables(), before);
});

const REQUEST = { request: "unknown", approve: true, scopes: ["admin"] };
/** The same for apps: the token of a person or of an app, or none. */
const ROWS_OF_APPS:
  readonly (readonly [string, "person" | "app" | "none", string, Code, string?, string?])[] = [
    ["route, credentials", "none", "POST /oauth/nothing", "ROUTE_NOT_FOUND"],
    ["method, credentials", "none", "GET /connect", "METHOD_NOT_ALLOWED"],
    ["method, credentials, body", "app", "POST /oauth/authorize", "METHOD_NOT_ALLOWED", "{"],
    ["credentials, media type", "none", "POST /connect", "INVALID_API_KEY", "{", xml],
    ["whose credentials, media type", "person", "POST /connect", "INVALID_API_KEY", "{", xml],
    ["query, media type", "app", "POST /connect?x=1", "VALIDATION_ERROR", "{", xml],
    ["media type, JSON", "app", "POST /connect", "UNSUPPORTED_MEDIA_TYPE", "{", xml],
    ["credentials, request", "none", "GET /oauth/requests/x", "INVALID_SESSION"],
    ["whose credentials, request", "app", "GET /oauth/requests/x", "INVALID_SESSION"],
    ["query, request", "person", "GET /oauth/requests/x?y=1", "VALIDATION_ERROR"],
    ["credentials, media type, JSON", "none", "POST /oauth/consent", "INVALID_SESSION", "{", xml],
    ["whose credentials, JSON", "app", "POST /oauth/consent", "INVALID_SESSION", "{"],
    ["media type, JSON", "person", "POST /oauth/consent", "UNSUPPORTED_MEDIA_TYPE", "{", xml],
    ["JSON, fields", "person", "POST /oauth/consent", "INVALID_JSON", '{"request":7,}'],
    ["fields, request", "person", "POST /oauth/consent", "VALIDATION_ERROR", '{"request":"x","approve":1}'],
    ["request, scopes", "person", "POST /oauth/consent", "REQUEST_NOT_FOUND", JSON.stringify(REQUEST)],
  ];

test("the order holds for apps and the people who answer them, too", async () => {
  const person = await owner(service);
  const { access_token } = await (await App.register(service)).connect(person);
  const before = await service.tables();
  const tokens = { person: person.token, app: access_token };
  for (const [wrong, as, request, code, body, type] of ROWS_OF_APPS) {
    const [method = "", path = ""] = request.split(" ");
    const headers = {
      ...type !== undefined && { "content-type": type },
      ...as !== "none" && { authorization: `Bearer ${tokens[as]}` },
    };
    const answer = await service.request(null, method, path, { body, headers });
    assertEquals([wrong, answer.status], [wrong, statusOf(code)], answer.text);
    assertRefused(answer, code);
  }
  assertEquals(await service.tables(), before);
});

/** The body with content that is too long, and another field. */
function tooLong(field: string): string {
  return TOO_LONG.replace("{", `{${field},`);
}

/** Content within the limit of a request, but over the free tier's file size, since each character has 2 bytes. */
function over(): string {
  return JSON.stringify({ content: "é".repeat(CONTENT_LENGTH_MAX / 2 + 1) });
}
