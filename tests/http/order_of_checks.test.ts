/**
 * When several things are wrong the contract says which is told: route and method, key and limits, path and query,
 * media type, JSON, fields, content size, file exists, tier size.
 */
import { assertEquals } from "@std/assert";
import { CONTENT_LENGTH_MAX } from "../../supabase/functions/api/limits.ts";
import { assertRefused, type Code, rateOf, STATUS_OF } from "../support/client/contract.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service, files } = await suite();
const own = await files("free");
await own.write("f.txt", "kept");
const exhausted = await service.project("free");

/** `new`: as good, and unknown to the isolate, which then asks the database first. */
type Key = "good" | "new" | "junk" | "none" | "over its limit";

interface Row {
  readonly wrong: string;
  readonly key: Key;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly type?: string;
  readonly code: Code;
}

const TOO_LONG = JSON.stringify({ content: "x".repeat(CONTENT_LENGTH_MAX + 1) });
const xml = "application/xml";

const ROWS: readonly Row[] = [
  {
    wrong: "route, key, body",
    key: "junk",
    method: "POST",
    path: "/nothing",
    body: "{",
    code: "ROUTE_NOT_FOUND",
  },
  { wrong: "route, limit", key: "over its limit", method: "GET", path: "/nothing", code: "ROUTE_NOT_FOUND" },
  {
    wrong: "method, key, path",
    key: "none",
    method: "PATCH",
    path: "/files/..%2F",
    code: "METHOD_NOT_ALLOWED",
  },
  {
    wrong: "method, limit",
    key: "over its limit",
    method: "PATCH",
    path: "/files",
    code: "METHOD_NOT_ALLOWED",
  },
  { wrong: "key, path", key: "junk", method: "GET", path: "/files/a%2F..", code: "INVALID_API_KEY" },
  { wrong: "key, query", key: "none", method: "GET", path: "/files?limit=0", code: "INVALID_API_KEY" },
  {
    wrong: "key, media type, JSON",
    key: "junk",
    method: "POST",
    path: "/files",
    body: "{",
    type: xml,
    code: "INVALID_API_KEY",
  },
  {
    wrong: "key, content size",
    key: "junk",
    method: "PUT",
    path: "/files/append/f.txt",
    body: TOO_LONG,
    code: "INVALID_API_KEY",
  },
  { wrong: "key, missing file", key: "none", method: "GET", path: "/files/none", code: "INVALID_API_KEY" },
  {
    wrong: "limit, path",
    key: "over its limit",
    method: "GET",
    path: "/files/a%2F..",
    code: "RATE_LIMIT_EXCEEDED",
  },
  {
    wrong: "limit, query",
    key: "over its limit",
    method: "GET",
    path: "/files?limit=0",
    code: "RATE_LIMIT_EXCEEDED",
  },
  {
    wrong: "limit, media type, JSON",
    key: "over its limit",
    method: "POST",
    path: "/files",
    body: "{",
    type: xml,
    code: "RATE_LIMIT_EXCEEDED",
  },
  {
    wrong: "limit, content size",
    key: "over its limit",
    method: "PUT",
    path: "/files/overwrite/x",
    body: TOO_LONG,
    code: "RATE_LIMIT_EXCEEDED",
  },
  {
    wrong: "path, media type, JSON",
    key: "good",
    method: "PUT",
    path: "/files/edit/a%2F..",
    body: "{",
    type: xml,
    code: "INVALID_PATH",
  },
  {
    wrong: "path, JSON",
    key: "good",
    method: "PUT",
    path: "/files/append/%ff",
    body: "{",
    code: "INVALID_PATH",
  },
  {
    wrong: "path, fields",
    key: "good",
    method: "PUT",
    path: "/files/overwrite/a%2F",
    body: "{}",
    code: "INVALID_PATH",
  },
  { wrong: "path, missing file", key: "good", method: "GET", path: "/files/none%2F", code: "INVALID_PATH" },
  {
    wrong: "query, missing file",
    key: "good",
    method: "GET",
    path: "/files/none?version=0",
    code: "VALIDATION_ERROR",
  },
  {
    wrong: "query, missing version",
    key: "good",
    method: "GET",
    path: "/files/f.txt?version=9&encoding=x",
    code: "VALIDATION_ERROR",
  },
  {
    wrong: "media type, JSON",
    key: "good",
    method: "POST",
    path: "/files",
    body: "{",
    type: xml,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    wrong: "media type, fields",
    key: "good",
    method: "PUT",
    path: "/files/edit/f.txt",
    body: "{}",
    type: xml,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    wrong: "media type, missing file",
    key: "good",
    method: "PUT",
    path: "/files/edit/none",
    body: "{}",
    type: xml,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    wrong: "JSON, fields",
    key: "good",
    method: "POST",
    path: "/files",
    body: '{"path":7,}',
    code: "INVALID_JSON",
  },
  {
    wrong: "JSON, missing file",
    key: "good",
    method: "PUT",
    path: "/files/append/none",
    body: "{",
    code: "INVALID_JSON",
  },
  {
    wrong: "JSON, missing file (edit)",
    key: "good",
    method: "PUT",
    path: "/files/edit/none",
    body: "{",
    code: "INVALID_JSON",
  },
  {
    wrong: "fields, missing file",
    key: "good",
    method: "PUT",
    path: "/files/append/none",
    body: '{"content":""}',
    code: "VALIDATION_ERROR",
  },
  {
    wrong: "no bytes, missing file (raw append)",
    key: "good",
    method: "PUT",
    path: "/files/append/none?raw",
    body: "",
    code: "VALIDATION_ERROR",
  },
  {
    wrong: "fields, missing file (edit)",
    key: "good",
    method: "PUT",
    path: "/files/edit/none",
    body: '{"oldString":""}',
    code: "VALIDATION_ERROR",
  },
  {
    wrong: "fields, content size",
    key: "good",
    method: "PUT",
    path: "/files/append/f.txt",
    body: TOO_LONG.replace("{", '{"isBase64":7,'),
    code: "VALIDATION_ERROR",
  },
  {
    wrong: "path in the body, content size",
    key: "good",
    method: "POST",
    path: "/files",
    body: TOO_LONG.replace("{", '{"path":"/",'),
    code: "INVALID_PATH",
  },
  {
    wrong: "content size, missing file",
    key: "good",
    method: "PUT",
    path: "/files/append/none",
    body: TOO_LONG,
    code: "CONTENT_TOO_LARGE",
  },
  {
    wrong: "missing file, tier size",
    key: "good",
    method: "PUT",
    path: "/files/overwrite/none",
    body: over(),
    code: "FILE_NOT_FOUND",
  },
  {
    wrong: "missing file, tier size (append)",
    key: "good",
    method: "PUT",
    path: "/files/append/none",
    body: over(),
    code: "FILE_NOT_FOUND",
  },
  {
    wrong: "tier size alone",
    key: "good",
    method: "PUT",
    path: "/files/overwrite/f.txt",
    body: over(),
    code: "CONTENT_TOO_LARGE",
  },
];

const WITH_NEW_KEYS = ROWS.flatMap((row) =>
  row.key === "good" ? [row, { ...row, key: "new" as const }] : [row]
);

for (const { wrong, key, method, path, body, type, code } of WITH_NEW_KEYS) {
  test(`${STATUS_OF[code]} ${code}: wrong are ${wrong}${key === "new" ? ", with a new key" : ""}`, async () => {
    const { key: unknown } = await service.key(own.project.id);
    await service.freezeWindow(own.project.id);
    await service.freezeWindow(exhausted.id, 100);
    const before = await service.tables();
    const keys = {
      "good": own.key,
      "new": unknown,
      "over its limit": exhausted.key,
      "junk": "oa_junk",
      "none": null,
    };
    const answer = await service.request(keys[key], method, path, {
      ...(body !== undefined && { body }),
      ...(type !== undefined && { headers: { "content-type": type } }),
    });
    assertRefused(answer, code);
    if (key === "good" || key === "new") assertEquals(rateOf(answer.headers).remaining, 99, "counted once");
    assertEquals(await service.tables(), before);
  });
}

/** Content within the length of one request, but over the free tier's file size: 2 bytes a character. */
function over(): string {
  return JSON.stringify({ content: "é".repeat(CONTENT_LENGTH_MAX / 2 + 1) });
}
