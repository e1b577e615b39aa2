import { assertEquals } from "@std/assert";
import { matches, pathParameters, splitUrl } from "../../../supabase/functions/api/http/request_data.ts";

const URLS: readonly (readonly [string, string, string])[] = [
  ["http://h/functions/v1/api/files/a%2Fb?x=1", "/files/a%2Fb", "x=1"],
  ["http://h/api/files/a/../b", "/files/a/../b", ""],
  ["http://h/files?a?b#c?d", "/files", "a?b"],
  ["http://h/api", "/", ""],
  ["http://h", "/", ""],
  ["http://h?q=/api/x", "/", "q=/api/x"],
  ["http://h/apiary/x", "/apiary/x", ""],
];

for (const [url, rawPath, rawQuery] of URLS) {
  Deno.test(`splitUrl decodes and normalizes nothing: ${url}`, () => {
    assertEquals(splitUrl(url), { rawPath, rawQuery });
  });
}

const MATCHES: readonly (readonly [string, string, boolean])[] = [
  ["/files", "/files", true],
  ["/files", "/files/", false],
  ["/files/*", "/files", false],
  ["/files/*", "/files/", true],
  ["/files/*", "/files/a/b", true],
  ["/keys/:id", "/keys/1", true],
  ["/keys/:id", "/keys/", false],
  ["/keys/:id", "/keys/1/rotate", false],
  ["/keys/:id/rotate", "/keys/1/rotate", true],
  ["/keys/:id/rotate", "/keys/1/revoke", false],
];

for (const [pattern, rawPath, isMatch] of MATCHES) {
  Deno.test(`matches: ${pattern} ${isMatch ? "matches" : "does not match"} ${rawPath}`, () => {
    assertEquals(matches(pattern, rawPath), isMatch);
  });
}

Deno.test("pathParameters decodes the path of a file once, and leaves an id as it is", () => {
  assertEquals(pathParameters("/files/copy/*", "/files/copy/a%2Fb/c%2525"), { path: "a/b/c%25", id: "" });
  assertEquals(pathParameters("/keys/:id/rotate", "/keys/a%2F/rotate"), { path: "", id: "a%2F" });
  assertEquals(pathParameters("/files", "/files"), { path: "", id: "" });
});
