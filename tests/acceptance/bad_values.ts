/** Values that all routes of history refuse alike, before they read a file, and without any change. */
import { assertEquals } from "@std/assert";
import { assertRefused, type Code, issuePaths, type OperationName } from "../support/client/contract.ts";
import { area, files, snapshot, strangerTo } from "./suite.ts";

const { test, testOfTwo, cases } = area("Refusals of the routes of history");
export default cases;

export interface Route {
  readonly method: string;
  /** The part of the URL before the file's path. */
  readonly prefix: string;
  readonly operation: OperationName;
  /** A valid body. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The other methods of the path. */
  readonly allow: string;
}

export const ROUTES: readonly Route[] = [
  { method: "DELETE", prefix: "/files/", operation: "delete_file", allow: "GET, HEAD, DELETE" },
  {
    ...{ method: "PUT", prefix: "/files/restore/", operation: "restore_file" },
    ...{ body: { version: 1 }, allow: "GET, HEAD, DELETE, PUT" },
  },
  {
    ...{ method: "PUT", prefix: "/files/copy/", operation: "copy_file" },
    ...{ body: { destination: "to.txt" }, allow: "GET, HEAD, DELETE, PUT" },
  },
  {
    ...{ method: "PUT", prefix: "/files/move/", operation: "move_file" },
    ...{ body: { destination: "to.txt" }, allow: "GET, HEAD, DELETE, PUT" },
  },
  { method: "GET", prefix: "/diff/", operation: "diff_file", allow: "GET, HEAD" },
];

/** Raw path and the rule that it breaks. */
const BAD_PATHS: readonly (readonly [string, string])[] = [
  ["", "empty"],
  ["%2Fa", "leading_slash"],
  ["a/", "trailing_slash"],
  ["a//b", "empty_segment"],
  ["a%5Cb", "backslash"],
  ["a%00b", "control_character"],
  ["a%7F", "control_character"],
  ["%", "broken_escape"],
  ["%zz", "broken_escape"],
  ["%ff", "broken_escape"],
  ["%ed%a0%80", "broken_escape"],
  ["x".repeat(1025), "too_long"],
];

/** Bodies that are not a JSON object of the right kind: the bytes, the Content-Type, the expected code. */
const BAD_BODIES: readonly (readonly [string | Uint8Array, string, Code])[] = [
  ["", "application/json", "INVALID_JSON"],
  ["{", "application/json", "INVALID_JSON"],
  ["{}}", "application/json", "INVALID_JSON"],
  ['{"version":01}', "application/json", "INVALID_JSON"],
  ["{'version':1}", "application/json", "INVALID_JSON"],
  [Uint8Array.of(0x22, 0xff, 0x22), "application/json", "INVALID_JSON"],
  ["[]", "application/json", "VALIDATION_ERROR"],
  ["null", "application/json", "VALIDATION_ERROR"],
  ["1", "application/json", "VALIDATION_ERROR"],
  ['"text"', "application/json", "VALIDATION_ERROR"],
  ["{}", "application/json", "VALIDATION_ERROR"],
  ["{}", "application/octet-stream", "UNSUPPORTED_MEDIA_TYPE"],
  ["{}", "text/html", "UNSUPPORTED_MEDIA_TYPE"],
  ["{}", "multipart/form-data; boundary=x", "UNSUPPORTED_MEDIA_TYPE"],
  ["{}", "application/json; charset=utf-16", "UNSUPPORTED_MEDIA_TYPE"],
];

for (const { method, prefix, operation, body, allow } of ROUTES) {
  const name = `${method} ${prefix}{path}`;
  const file = `${prefix}f.txt`;

  test(`400 INVALID_PATH with details.rule: ${name}; nothing changed`, async () => {
    const own = await files();
    await own.write("f.txt", "x");
    const before = await snapshot();
    for (const [path, rule] of BAD_PATHS) {
      const answer = await own.request(method, prefix + path, { body });
      assertEquals(assertRefused(answer, "INVALID_PATH", operation), { rule }, path.slice(0, 20));
    }
    assertEquals(await snapshot(), before);
  });

  testOfTwo(`404 FILE_NOT_FOUND: ${name} of another project's file, as of none`, async () => {
    const own = await files();
    const other = strangerTo(own);
    await own.write("f.txt", "x");
    const before = await snapshot();
    const [theirs, none] = [
      await other.request(method, file, { body }),
      await other.request(method, `${prefix}g`, { body }),
    ];
    assertRefused(theirs, "FILE_NOT_FOUND", operation);
    assertEquals(theirs.text, none.text);
    assertEquals(await snapshot(), before);
  });

  test(`405 METHOD_NOT_ALLOWED with Allow: ${file} by PATCH`, async () => {
    const own = await files();
    for (const wrong of ["PATCH", "POST"]) {
      const answer = await own.request(wrong, file, { body: {} });
      assertRefused(answer, "METHOD_NOT_ALLOWED");
      const allowed = answer.headers.get("allow")?.split(", ").sort();
      assertEquals(allowed, allow.split(", ").sort());
    }
  });

  if (body === undefined) continue;

  test(`400 and 415 for bodies that are no JSON: ${name}; nothing changed`, async () => {
    const own = await files();
    await own.write("f.txt", "x");
    const before = await snapshot();
    for (const [bad, type, code] of BAD_BODIES) {
      const answer = await own.request(method, file, { body: bad, headers: { "content-type": type } });
      assertRefused(answer, code, operation);
    }
    const encoded = await own.request(method, file, { body, headers: { "content-encoding": "gzip" } });
    assertRefused(encoded, "UNSUPPORTED_MEDIA_TYPE", operation);
    assertEquals(await snapshot(), before);
  });

  test(`200: ${name} takes what curl and fetch send for JSON`, async () => {
    const own = await files();
    for (
      const type of ["application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded", ""]
    ) {
      const path = `${crypto.randomUUID()}.txt`;
      await own.write(path, "x");
      const sent = JSON.stringify({
        ...body,
        ..."destination" in body && { destination: own.at(`${path}.to`) },
      });
      const headers = type === "" ? {} : { "content-type": type };
      assertEquals((await own.request(method, prefix + path, { body: sent, headers })).status, 200, type);
    }
  });
}

test("the paths of the new routes are files for the others: restore/, copy/ and move/ are folders like any", async () => {
  const own = await files();
  for (const path of ["restore/a", "copy/a", "move/a", "append/a", "diff/a"]) {
    await own.write(path, path);
    assertEquals((await own.read(path)).content, path);
    assertEquals((await own.remove(path)).path, path);
    assertEquals((await own.restore(path, 1)).version, 3);
    assertEquals((await own.diff(path, { from: 1, to: 3 })).diff, "");
  }
});

test("400 VALIDATION_ERROR names each bad parameter of a read; nothing changed", async () => {
  const own = await files();
  await own.write("f.txt", "x");
  const before = await snapshot();
  const cases: [string, string[]][] = [
    ["version=0&lines=0-1", ["version", "lines"]],
    ["version=1&version=1", ["version"]],
    ["lines=1-1&encoding=utf16", ["encoding"]],
    ["metadata=1&lines=1-1", ["metadata"]],
    ["lines=%ff", ["lines"]],
  ];
  for (const [query, fields] of cases) {
    const answer = await own.request("GET", `/files/f.txt?${query}`);
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), fields, query);
  }
  assertEquals(await snapshot(), before);
});

test("400 VALIDATION_ERROR: ?metadata=true and ?versions=true, and the message shows the right form", async () => {
  const own = await files();
  await own.write("f.txt", "x");
  for (const name of ["metadata", "versions"]) {
    for (const value of ["true", "false", "1"]) {
      const answer = await own.request("GET", `/files/f.txt?${name}=${value}`);
      assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), [name]);
      assertEquals(answer.text.includes(`write \`?${name}\``), true, answer.text);
    }
    assertEquals((await own.request("GET", `/files/f.txt?${name}`)).status, 200);
  }
});
