/**
 * Bad input, by operation and field. Each row is refused with its status and code, shows the rate headers, counts as
 * one request, and changes no table and no object.
 */
import { assertEquals } from "@std/assert";
import {
  BODY_BYTES_MAX,
  CONTENT_LENGTH_MAX,
  INTEGER_MAX,
  JSON_DEPTH_MAX,
  PAGE_LIMIT_MAX,
} from "../../supabase/functions/api/limits.ts";
import {
  assertRefused,
  type Code,
  issuePaths,
  type OperationName,
  rateOf,
  statusOf,
} from "../support/client/contract.ts";
import { Files } from "../support/client/files.ts";
import type { RequestOptions } from "../support/client/api.ts";
import { suite, test } from "../support/stack/suite.ts";

interface Row {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly options?: RequestOptions;
  readonly code: Code;
  readonly operation: OperationName;
  /** The paths that `details.issues` must name. */
  readonly issues?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

const { service } = await suite();
const project = await service.project("pro");
const own = new Files(service, project.key);
await own.write("f.txt", "kept");
await own.writeBytes("f.bin", Uint8Array.of(0xff));

/** The operations with a JSON body, each with a valid body. */
const WRITES = [
  { name: "write", method: "POST", path: "/files", body: { path: "f.txt", content: "x" } },
  { name: "append", method: "PUT", path: "/files/append/f.txt", body: { content: "x" } },
  { name: "overwrite", method: "PUT", path: "/files/overwrite/f.txt", body: { content: "x" } },
  { name: "edit", method: "PUT", path: "/files/edit/f.txt", body: { oldString: "kept", newString: "x" } },
] as const;

/** Values that no text field accepts; undefined: the field is missing. */
const NO_TEXT = [undefined, null, 0, 1.5, true, false, [], ["x"], {}, { length: 1 }];
/** Values that no boolean field accepts. */
const NO_FLAG = ["true", "", 0, 1, [], {}];

const TEXT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  write: ["path", "content"],
  append: ["content"],
  overwrite: ["content"],
  edit: ["oldString", "newString"],
};
const FLAG_FIELDS: Readonly<Record<string, string>> = {
  write: "isBase64",
  append: "isBase64",
  overwrite: "isBase64",
  edit: "replaceAll",
};

const rows: Row[] = [];

for (const { name, method, path, body } of WRITES) {
  const refused = (what: string, changed: unknown, issues: readonly string[]) =>
    rows.push({
      name: `${name}, ${what}`,
      method,
      path,
      options: { body: changed },
      code: "VALIDATION_ERROR",
      operation: "write_file",
      issues,
    });
  for (const field of TEXT_FIELDS[name] ?? []) {
    for (const value of NO_TEXT) refused(`${field} ${show(value)}`, { ...body, [field]: value }, [field]);
  }
  const flag = FLAG_FIELDS[name] ?? "";
  for (const value of NO_FLAG) refused(`${flag} ${show(value)}`, { ...body, [flag]: value }, [flag]);
  refused("no field at all", {}, TEXT_FIELDS[name] ?? []);
  for (const value of [null, [], "text", 7, true]) {
    refused(`the body is ${show(value)}`, JSON.stringify(value), [""]);
  }
  if (name !== "edit") {
    for (const content of ["\ud800", "a\udfffb", "\udc00\ud800"]) {
      refused(`content ${JSON.stringify(content)}`, { ...body, content }, ["content"]);
    }
    refused("content that is not base64", { ...body, content: "*", isBase64: true }, ["content"]);
  }
}
rows.push({
  name: "append, content empty",
  method: "PUT",
  path: "/files/append/f.txt",
  options: { body: { content: "" } },
  code: "VALIDATION_ERROR",
  operation: "write_file",
  issues: ["content"],
});
for (const contentType of ["", "text/unknown", 1, {}, ["text/plain"]]) {
  rows.push({
    name: `write, contentType ${show(contentType)}`,
    method: "POST",
    path: "/files",
    options: { body: { path: "f.txt", content: "x", contentType } },
    code: "VALIDATION_ERROR",
    operation: "write_file",
    issues: ["contentType"],
  });
}

/** Bodies that are not JSON in UTF-8. */
const NOT_JSON: readonly (readonly [string, string | Uint8Array])[] = [
  ["empty", ""],
  ["an open object", '{"content":"x"'],
  ["a control character in a string", '{"content":"a\nb"}'],
  ["a trailing comma", '{"content":"x",}'],
  ["two values", '{"content":"x"}{}'],
  ["a byte order mark", '\ufeff{"content":"x"}'],
  ["invalid UTF-8 in the content", bytes('{"content":"', 0xff, '","path":"f.txt"}')],
  ["an encoded surrogate", bytes('{"content":"', 0xed, 0xa0, 0x80, '"}')],
  ["nesting too deep", `{"x":${"[".repeat(JSON_DEPTH_MAX)}${"]".repeat(JSON_DEPTH_MAX)}}`],
];
for (const { name, method, path } of WRITES) {
  for (const [what, body] of NOT_JSON) {
    rows.push({
      name: `${name}, ${what}`,
      method,
      path,
      options: { body },
      code: "INVALID_JSON",
      operation: "write_file",
    });
  }
  for (const encoding of ["gzip", "deflate", "br", "zstd", "x-unknown", "gzip, identity"]) {
    rows.push({
      name: `${name}, Content-Encoding ${encoding}`,
      method,
      path,
      options: {
        body: "{}",
        headers: { "content-type": "application/json", "content-encoding": encoding },
      },
      code: "UNSUPPORTED_MEDIA_TYPE",
      operation: "write_file",
    });
  }
}
for (const { name, method, path } of WRITES.filter(({ name }) => name === "write" || name === "edit")) {
  const types = [
    "application/xml",
    "multipart/form-data; boundary=x",
    ..."application/octet-stream image/png text/html nonsense".split(" "),
    "application/json; charset=iso-8859-1",
    "application/json; charset=utf-16",
  ];
  for (const type of types) {
    rows.push({
      name: `${name}, Content-Type ${type}`,
      method,
      path,
      options: { body: '{"content":"x"}', headers: { "content-type": type } },
      code: "UNSUPPORTED_MEDIA_TYPE",
      operation: "write_file",
    });
  }
}

/** Integer parameters of a query, each with values outside its range. */
const NUMBERS: readonly (readonly [string, string, readonly string[]])[] = [
  ["/files", "limit", [
    "0",
    "-1",
    String(PAGE_LIMIT_MAX + 1),
    "",
    ..."ten 1.5 1e1 0x10".split(" "),
    " 1",
    "1 ",
    "٣",
    "99999999999",
  ]],
  ["/files", "offset", ["-1", "", "x", "1.0", String(INTEGER_MAX + 1), "null"]],
  ["/files", "minSize", ["-1", "", "1KB", "1.5", "9999999999999999"]],
  ["/files", "maxSize", ["-1", "", "x", "NaN", "Infinity"]],
  ["/files/f.txt", "version", [
    "0",
    "-1",
    "",
    "latest",
    "1.5",
    String(INTEGER_MAX + 1),
    "99999999999",
    "1,2",
  ]],
  ["/files/f.txt?metadata", "version", ["0", "", "x"]],
  ["/files/f.txt?versions", "limit", ["0", "101", "", "x", "-5"]],
  ["/files/f.txt?versions", "offset", ["-1", "", "x", String(INTEGER_MAX + 1)]],
];
/** Other parameters, each with invalid values. */
const CHOICES: readonly (readonly [string, string, readonly string[]])[] = [
  ["/files", "recursive", ["", "1", "0", "yes", "TRUE", "True"]],
  ["/files", "sortBy", ["", "name", "PATH", "createdAt", "path;drop table files"]],
  ["/files", "sortOrder", ["", "ASC", "ascending", "1"]],
  ["/files", "contentType", ["", "text", "text/rust", "TEXT/CSV", "text/csv; charset=utf-8", "*/*"]],
  ...["createdAfter", "createdBefore", "updatedAfter", "updatedBefore"].map((name) =>
    ["/files", name, [
      "",
      ..."yesterday 2024 2024-13-01 2024-02-30 2023-02-29 2024-00-10 2024-01-01T25:00:00Z".split(" "),
      ..."2024-01-01T00:60:00Z 2024-01-01T00:00:00 1704067200 01/02/2024 infinity now".split(" "),
      ..."2024-01-01T00:00:00+0200 -2024-01-01 0000-12-31 9999-12-31T23:59:59-00:01".split(" "),
      ..."0001-01-01T00:00:00+00:01".split(" "),
    ]] as const
  ),
  ["/files/f.txt", "encoding", ["", "utf-8", "UTF8", "hex", "binary"]],
  ["/files/f.txt", "metadata", ["true", "1", "0"]],
  ["/files/f.txt", "versions", ["true", "false", "2"]],
];
/** A valid value for each parameter; empty: the parameter takes none. */
const GOOD: Readonly<Record<string, string>> = {
  recursive: "true",
  sortBy: "path",
  sortOrder: "asc",
  contentType: "text/csv",
  createdAfter: "2024-01-01",
  createdBefore: "2024-01-01",
  updatedAfter: "2024-01-01",
  updatedBefore: "2024-01-01",
  encoding: "utf8",
  metadata: "",
  versions: "",
};
for (const [path, parameter, values] of [...NUMBERS, ...CHOICES]) {
  const joint = path.includes("?") ? "&" : "?";
  const operation = operationOf(path, parameter);
  const row = (what: string, query: string): Row => ({
    name: `GET ${path}${joint}${what}`,
    method: "GET",
    path: `${path}${joint}${query}`,
    code: "VALIDATION_ERROR",
    operation,
    issues: [parameter],
  });
  for (const value of values) {
    rows.push(row(`${parameter}=${value}`, `${parameter}=${encodeURIComponent(value)}`));
  }
  const good = GOOD[parameter] ?? "1";
  const pair = good === "" ? parameter : `${parameter}=${good}`;
  rows.push(row(`${pair} twice`, `${pair}&${pair}`));
  if (good !== "") rows.push(row(`${parameter} without a value`, parameter));
  rows.push(row(`${parameter}=%ff`, `${parameter}=%ff`));
}
rows.push({
  name: "GET /files?directory twice",
  method: "GET",
  path: "/files?directory=a&directory=b",
  code: "VALIDATION_ERROR",
  operation: "list_files",
  issues: ["directory"],
});
/** Valid requests about files or versions that do not exist. */
const NOTHING_THERE: readonly Row[] = [
  row("GET", "/files/none", "FILE_NOT_FOUND", "read_file"),
  row("GET", "/files/none?metadata", "FILE_NOT_FOUND", "get_file_metadata"),
  row("GET", "/files/none?versions", "FILE_NOT_FOUND", "get_file_versions"),
  row("GET", "/files/f.txt?version=2", "VERSION_NOT_FOUND", "read_file", { details: { latestVersion: 1 } }),
  row("GET", "/files/f.bin?encoding=utf8", "NOT_TEXT", "read_file"),
  row("PUT", "/files/append/none", "FILE_NOT_FOUND", "write_file", { options: { body: { content: "x" } } }),
  row("PUT", "/files/overwrite/none", "FILE_NOT_FOUND", "write_file", {
    options: { body: { content: "x" } },
  }),
  row("PUT", "/files/edit/none", "FILE_NOT_FOUND", "write_file", {
    options: { body: { oldString: "a", newString: "b" } },
  }),
  row("PUT", "/files/edit/f.bin", "NOT_TEXT", "write_file", {
    options: { body: { oldString: "a", newString: "b" } },
  }),
  row("GET", "/files/", "INVALID_PATH", "read_file", { details: { rule: "empty" } }),
  row("PUT", "/files/append/", "INVALID_PATH", "write_file", { details: { rule: "empty" } }),
  row("PUT", "/files/overwrite/", "INVALID_PATH", "write_file", { details: { rule: "empty" } }),
  row("PUT", "/files/edit/", "INVALID_PATH", "write_file", { details: { rule: "empty" } }),
  row("GET", "/files?directory=%2e%2e", "INVALID_PATH", "list_files", { details: { rule: "dot_segment" } }),
  row("GET", "/files?directory=a//b", "INVALID_PATH", "list_files", { details: { rule: "empty_segment" } }),
  row("GET", `/files?directory=${"a".repeat(1025)}`, "INVALID_PATH", "list_files", {
    details: { rule: "too_long" },
  }),
];
rows.push(...NOTHING_THERE);

for (const row of rows) {
  test(`${statusOf(row.code)} ${row.code}: ${row.name}`, async () => {
    // The window is frozen, so that no minute ends it and the next request shows exactly one less.
    await service.freezeWindow(project.id);
    const before = await service.tables();
    const answer = await service.request(project.key, row.method, row.path, row.options);
    const details = assertRefused(answer, row.code, row.operation);
    if (row.issues) assertEquals([...new Set(issuePaths(details))], row.issues);
    if (row.details) assertEquals(details, row.details);
    assertEquals(
      [rateOf(answer.headers).limit, rateOf(answer.headers).remaining],
      [1000, 999],
      "counted once",
    );
    assertEquals(await service.tables(), before, "something was changed");
  });
}

for (const { name, method, path } of WRITES) {
  test(`413 CONTENT_TOO_LARGE: ${name}, a Content-Length over 64 MiB, before any of the body`, async () => {
    await service.freezeWindow(project.id);
    const before = await service.tables();
    const answer = await service.requestRaw(
      method,
      [
        `${method} /functions/v1/api${path} HTTP/1.1`,
        "host: localhost",
        `x-api-key: ${project.key}`,
        "content-type: application/json",
        `content-length: ${BODY_BYTES_MAX + 1}`,
        "",
        '{"content":"',
      ].join("\r\n"),
    );
    assertEquals(BODY_BYTES_MAX, 67_108_864);
    const details = assertRefused(answer, "CONTENT_TOO_LARGE", "write_file");
    assertEquals(details, { limitBytes: BODY_BYTES_MAX, sizeBytes: BODY_BYTES_MAX + 1 });
    assertEquals(rateOf(answer.headers).remaining, 999);
    assertEquals(await service.tables(), before);
  });
}

test("413 CONTENT_TOO_LARGE: content one over 10485760, in write, append and overwrite", async () => {
  assertEquals(CONTENT_LENGTH_MAX, 10_485_760);
  const content = "x".repeat(CONTENT_LENGTH_MAX + 1);
  for (const { method, path, body } of WRITES.filter(({ name }) => name !== "edit")) {
    await service.freezeWindow(project.id);
    const before = await service.tables();
    const answer = await own.request(method, path, { body: { ...body, content } });
    const details = assertRefused(answer, "CONTENT_TOO_LARGE", "write_file");
    assertEquals(details, { limit: CONTENT_LENGTH_MAX, length: CONTENT_LENGTH_MAX + 1 });
    assertEquals(rateOf(answer.headers).remaining, 999);
    assertEquals(await service.tables(), before);
  }
});

function show(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value);
}

function bytes(...parts: readonly (string | number)[]): Uint8Array {
  const encoder = new TextEncoder();
  return Uint8Array.from(
    parts.flatMap((part) => typeof part === "string" ? [...encoder.encode(part)] : [part]),
  );
}

function row(
  method: string,
  path: string,
  code: Code,
  operation: OperationName,
  more: Partial<Row> = {},
): Row {
  return { name: `${method} ${path.slice(0, 60)}`, method, path, code, operation, ...more };
}

function operationOf(path: string, parameter: string): OperationName {
  if (path === "/files") return "list_files";
  if (path.includes("versions") || parameter === "versions") return "get_file_versions";
  return path.includes("metadata") || parameter === "metadata" ? "get_file_metadata" : "read_file";
}
