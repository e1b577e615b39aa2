/**
 * Bad input, by operation and field. Each request is refused with its status and code, shows the rate headers, counts as
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

const { service } = await suite();
const project = await service.project("pro");
const own = new Files(service, project.key);
await own.write("f.txt", "kept");
await own.writeBytes("f.bin", Uint8Array.of(0xff));

/** A request, described as a failure names it. */
interface Bad {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly options?: RequestOptions;
  /** The paths that `details.issues` must name. */
  readonly details?: readonly string[];
  readonly operation?: OperationName;
}

/** Defines a test of requests that are refused alike. */
function refused(name: string, code: Code, requests: readonly Bad[]): void {
  test(`${statusOf(code)} ${code}: ${name}`, async () => {
    const before = await service.tables();
    for (const { name, method, path, options, details: expected, operation = "write_file" } of requests) {
      // The window is frozen, so that no minute ends it and the next request shows exactly one less.
      await service.freezeWindow(project.id);
      const answer = await service.request(project.key, method, path, options);
      const details = assertRefused(answer, code, operation);
      if (expected) assertEquals([...new Set(issuePaths(details))], expected, name);
      const { limit, remaining } = rateOf(answer.headers);
      assertEquals([limit, remaining], [1000, 999], `${name} is counted once`);
    }
    assertEquals(await service.tables(), before, "something was changed");
  });
}

/** The operations with a JSON body: a valid body, the names of text fields, and of a boolean one. */
const WRITES = [
  {
    ...{ name: "write", method: "POST", path: "/files", body: { path: "f.txt", content: "x" } },
    ...{ texts: ["path", "content"], flag: "isBase64" },
  },
  ...["append", "overwrite"].map((name) => ({
    ...{ name, method: "PUT", path: `/files/${name}/f.txt`, body: { content: "x" } },
    ...{ texts: ["content"], flag: "isBase64" },
  })),
  {
    ...{
      name: "edit",
      method: "PUT",
      path: "/files/edit/f.txt",
      body: { oldString: "kept", newString: "x" },
    },
    ...{ texts: ["oldString", "newString"], flag: "replaceAll" },
  },
];

/** Values that no text field accepts; undefined: the field is missing. */
const NO_TEXT = [undefined, null, 0, true, [], ["x"], {}];
/** Values that no boolean field accepts. */
const NO_FLAG = ["true", "", 0, 1, [], {}];
const ILL_FORMED = ["\ud800", "a\udfffb", "\udc00\ud800"];
const TYPES = ["", "text/unknown", 1, {}, ["text/plain"]];

for (const { name, method, path, body, texts, flag } of WRITES) {
  const bad = (changed: unknown, ...details: string[]): Bad => ({
    ...{ name: JSON.stringify(changed), method, path, details },
    options: { body: changed },
  });
  refused(`${name}, fields`, "VALIDATION_ERROR", [
    ...texts.flatMap((field) => NO_TEXT.map((value) => bad({ ...body, [field]: value }, field))),
    ...NO_FLAG.map((value) => bad({ ...body, [flag]: value }, flag)),
    bad({}, ...texts),
    ...[null, [], "text", 7].map((value) => bad(JSON.stringify(value), "")),
    ...name === "edit" ? [] : ILL_FORMED.map((content) => bad({ ...body, content }, "content")),
    ...name === "edit" ? [] : [bad({ ...body, content: "*", isBase64: true }, "content")],
    ...name === "append" ? [bad({ content: "" }, "content")] : [],
    ...name === "write" ? TYPES.map((contentType) => bad({ ...body, contentType }, "contentType")) : [],
  ]);
}

/** Bodies that are not JSON in UTF-8. */
const NOT_JSON: Readonly<Record<string, string | Uint8Array>> = {
  "empty": "",
  "an open object": '{"content":"x"',
  "a control character in a string": '{"content":"a\nb"}',
  "a trailing comma": '{"content":"x",}',
  "two values": '{"content":"x"}{}',
  "a byte order mark": '\ufeff{"content":"x"}',
  "invalid UTF-8 in the content": bytes('{"content":"', 0xff, '","path":"f.txt"}'),
  "an encoded surrogate": bytes('{"content":"', 0xed, 0xa0, 0x80, '"}'),
  "nesting too deep": `{"x":${"[".repeat(JSON_DEPTH_MAX)}${"]".repeat(JSON_DEPTH_MAX)}}`,
};
const OTHER_TYPES = [
  ..."application/xml application/octet-stream image/png text/html nonsense".split(" "),
  "multipart/form-data; boundary=x",
  "application/json; charset=iso-8859-1",
  "application/json; charset=utf-16",
];

for (const { name, method, path } of WRITES) {
  refused(
    `${name}, a body that is not JSON`,
    "INVALID_JSON",
    Object.entries(NOT_JSON).map(([name, body]) => ({ name, method, path, options: { body } })),
  );
  const headers = [
    ...["gzip", "deflate", "br", "zstd", "x-unknown", "gzip, identity"].map((encoding) => ({
      "content-type": "application/json",
      "content-encoding": encoding,
    })),
    // Appends and overwrites take bytes of any type.
    ...name === "write" || name === "edit" ? OTHER_TYPES.map((type) => ({ "content-type": type })) : [],
  ];
  refused(
    `${name}, other encodings and types`,
    "UNSUPPORTED_MEDIA_TYPE",
    headers.map((headers) => ({
      ...{ name: JSON.stringify(headers), method, path },
      options: { body: '{"content":"x"}', headers },
    })),
  );
}

const TOO_LARGE = String(INTEGER_MAX + 1);
const NO_DATES = [
  "",
  ..."yesterday 2024 2024-02-30 2024-01-01T25:00:00Z 2024-01-01T00:00:00 1704067200 infinity".split(" "),
  ..."2024-01-01T00:00:00+0200 0000-12-31 9999-12-31T23:59:59-00:01 0001-01-01T00:00:00+00:01".split(" "),
];
/** The parameters of a read or list: a valid value, empty where it takes none, and invalid ones. */
const PARAMETERS: readonly (readonly [OperationName, string, string, string, readonly string[]])[] = [
  ["list_files", "/files", "limit", "1", [
    ...["0", "-1", String(PAGE_LIMIT_MAX + 1), "", " 1", "1 ", "٣"],
    ..."ten 1.5 1e1 0x10 99999999999".split(" "),
  ]],
  ["list_files", "/files", "offset", "1", ["-1", "", "x", "1.0", TOO_LARGE]],
  ["list_files", "/files", "minSize", "1", ["-1", "", "1KB", "1.5", "9999999999999999"]],
  ["list_files", "/files", "maxSize", "1", ["-1", "", "x", "NaN", "Infinity"]],
  ["list_files", "/files", "recursive", "true", ["", "1", "0", "yes", "TRUE", "True"]],
  ["list_files", "/files", "sortBy", "path", ["", "name", "PATH", "createdAt", "path;drop table files"]],
  ["list_files", "/files", "sortOrder", "asc", ["", "ASC", "ascending", "1"]],
  ["list_files", "/files", "directory", "a", []],
  ["list_files", "/files", "contentType", "text/csv", ["", "text", "text/rust", "TEXT/CSV", "*/*"]],
  ...["createdAfter", "createdBefore", "updatedAfter", "updatedBefore"].map((name, index) =>
    ["list_files", "/files", name, "2024-01-01", index === 0 ? NO_DATES : NO_DATES.slice(0, 3)] as const
  ),
  ["read_file", "/files/f.txt", "version", "1", ["0", "-1", "", "latest", "1.5", TOO_LARGE, "1,2"]],
  ["read_file", "/files/f.txt", "encoding", "utf8", ["", "utf-8", "UTF8", "hex"]],
  ["get_file_metadata", "/files/f.txt", "metadata", "", ["true", "0"]],
  ["get_file_metadata", "/files/f.txt?metadata", "version", "1", ["0", "", "x"]],
  ["get_file_versions", "/files/f.txt", "versions", "", ["true", "2"]],
  ["get_file_versions", "/files/f.txt?versions", "limit", "1", ["0", "101", "", "x"]],
  ["get_file_versions", "/files/f.txt?versions", "offset", "1", ["-1", "", "x", TOO_LARGE]],
];
for (const [operation, path, parameter, good, values] of PARAMETERS) {
  const pair = good === "" ? parameter : `${parameter}=${good}`;
  const queries = [
    ...values.map((value) => `${parameter}=${encodeURIComponent(value)}`),
    ...[`${pair}&${pair}`, `${parameter}=%ff`],
    ...good === "" || parameter === "directory" ? [] : [parameter],
  ];
  refused(
    `GET ${path}, ${parameter}`,
    "VALIDATION_ERROR",
    queries.map((query) => ({
      ...{ name: query, method: "GET", path: `${path}${path.includes("?") ? "&" : "?"}${query}` },
      ...{ operation, details: [parameter] },
    })),
  );
}
test("413 CONTENT_TOO_LARGE: a Content-Length over 64 MiB, before any of the body; content one over 10485760", async () => {
  assertEquals([BODY_BYTES_MAX, CONTENT_LENGTH_MAX], [67_108_864, 10_485_760]);
  const before = await service.tables();
  for (const { name, method, path, body } of WRITES) {
    await service.freezeWindow(project.id);
    const announced = await service.requestRaw(
      method,
      [
        `${method} /functions/v1/api${path} HTTP/1.1`,
        ...["host: localhost", `x-api-key: ${project.key}`, "content-type: application/json"],
        ...[`content-length: ${BODY_BYTES_MAX + 1}`, "", '{"content":"'],
      ].join("\r\n"),
    );
    assertEquals(assertRefused(announced, "CONTENT_TOO_LARGE", "write_file"), {
      limitBytes: BODY_BYTES_MAX,
      sizeBytes: BODY_BYTES_MAX + 1,
    });
    assertEquals(rateOf(announced.headers).remaining, 999);
    if (name === "edit") continue;
    const content = "x".repeat(CONTENT_LENGTH_MAX + 1);
    const sent = await own.request(method, path, { body: { ...body, content } });
    const details = assertRefused(sent, "CONTENT_TOO_LARGE", "write_file");
    assertEquals(details, { limit: CONTENT_LENGTH_MAX, length: CONTENT_LENGTH_MAX + 1 });
    assertEquals(rateOf(sent.headers).remaining, 998);
  }
  assertEquals(await service.tables(), before);
});

function bytes(...parts: readonly (string | number)[]): Uint8Array {
  const encoder = new TextEncoder();
  return Uint8Array.from(
    parts.flatMap((part) => typeof part === "string" ? [...encoder.encode(part)] : [part]),
  );
}
