/** Requests with odd methods, paths, queries, headers and bodies, made up by chance. */
import fc from "fast-check";
import { latin1 } from "./raw_connection.ts";

/** Characters that mean something to somebody on the way. */
const odd = fc.constantFrom(
  ...[
    "/",
    "//",
    "%2F",
    "%2f",
    "..",
    "%2e%2e",
    ".",
    "%00",
    "%",
    "%zz",
    "%c3%28",
    "%ff",
    "%ed%a0%80",
    "\\",
    "%5c",
  ],
  ...[
    "?",
    "&",
    "=",
    "#",
    "+",
    "%20",
    ";",
    ":",
    "@",
    "*",
    "'",
    '"',
    "%22",
    "<",
    "|",
    "{",
    "a",
    "files",
    "append",
    "é",
    "\xff",
  ],
);
const oddTarget = fc.tuple(
  fc.constantFrom(
    ...[
      "/files",
      "/files/",
      "/files/append/",
      "/files/overwrite/",
      "/files/edit/",
      "/files/restore/",
      "/files/copy/",
    ],
    ...[
      "/files/move/",
      "/diff/",
      "/health",
      "/openapi.json",
      "/sweep",
      "/search",
      "/",
      "",
      "/../",
      "/files/../health",
    ],
  ),
  fc.array(fc.oneof(odd, fc.string({ maxLength: 6 })), { maxLength: 8 }),
  fc.array(
    fc.tuple(
      fc.constantFrom(
        ...[
          "version",
          "metadata",
          "versions",
          "limit",
          "offset",
          "encoding",
          "lines",
          "directory",
          "recursive",
          "sortBy",
        ],
        ...[
          "sortOrder",
          "after",
          "deleted",
          "minSize",
          "createdAfter",
          "contentType",
          "path",
          "raw",
          "from",
          "to",
          "deep",
          "",
        ],
      ),
      fc.oneof(
        odd,
        fc.constantFrom(
          "0",
          "-1",
          "1",
          "1e9",
          "2147483648",
          "NaN",
          "true",
          "null",
          "[]",
          "2026-02-30",
          "1-",
          "-5",
          "9".repeat(30),
        ),
        fc.string({ maxLength: 10 }),
      ),
    ),
    { maxLength: 4 },
  ),
).map(([route, pieces, query]) => {
  const parameters = query.map(([name, value]) => `${name}=${value}`).join("&");
  return route + pieces.join("") + (parameters === "" ? "" : `?${parameters}`);
});

/** Among them such as are answered, so that the odd headers and bodies get further, too. */
const target = fc.oneof(
  { arbitrary: oddTarget, weight: 4 },
  {
    arbitrary: fc.constantFrom(
      "/health",
      "/files",
      "/files?recursive=true",
      "/files/raw.txt",
      "/files/raw.txt?versions",
    ),
    weight: 1,
  },
);

const headerValue = fc.oneof(
  odd,
  fc.constantFrom(
    ...[
      "application/json",
      "application/pdf",
      "text/plain; charset=utf-16",
      "multipart/form-data",
      "*/*",
      "gzip",
      "identity",
    ],
    ...[
      "bytes=0-",
      "bytes=5-1",
      "bytes=-0",
      "bytes=0-0,1-1",
      '"x"',
      'W/"x"',
      "*",
      '"',
      "Bearer ",
      "Bearer oa_x",
      "oa_",
      "1",
    ],
    ...["application/octet-stream;q=0", "chunked", "x".repeat(3000)],
  ),
  fc.string({ maxLength: 20 }),
);
const headers = fc.array(
  fc.tuple(
    fc.constantFrom(
      ...[
        "content-type",
        "accept",
        "content-encoding",
        "range",
        "if-range",
        "if-match",
        "if-none-match",
        "idempotency-key",
      ],
      ...[
        "authorization",
        "x-forwarded-for",
        "cf-connecting-ip",
        "origin",
        "cookie",
        "x-request-id",
        "accept-encoding",
        "te",
      ],
    ),
    headerValue,
  ),
  { maxLength: 4 },
);

const fieldValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.string({ unit: "binary", maxLength: 50 }),
  fc.constantFrom(
    "../x",
    "a\0b",
    "x".repeat(2000),
    "\ud800",
    "a/b",
    "eA==",
    "text/plain",
    1,
    -1,
    1e400,
    true,
    null,
    [],
    {},
  ),
);
const fields = fc.dictionary(
  fc.constantFrom(
    ...[
      "path",
      "content",
      "contentType",
      "isBase64",
      "oldString",
      "newString",
      "replaceAll",
      "edits",
      "expectedOccurrences",
    ],
    ...["dryRun", "version", "destination", "overwrite", "__proto__", "constructor", ""],
  ),
  fieldValue,
  { maxKeys: 5 },
).map((value) => JSON.stringify(value));
const payload = fc.oneof(
  fields,
  fields.chain((text) => fc.nat({ max: text.length }).map((end) => text.slice(0, end))),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => String.fromCharCode(...bytes)),
  fc.constantFrom(
    "",
    "null",
    "[]",
    '"x"',
    "{",
    "[".repeat(5000),
    '{"a":'.repeat(2000),
    '{"content":"\xff"}',
    "\xef\xbb\xbf{}",
    '{"content":"\\ud800"}',
  ),
);
const method = fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS");

/** Nothing that would end the head early or make two heads of one: that is what the raw cases are for. */
const onOneLine = (text: string) => text.replaceAll(/[\r\n\0 ]/g, "_");
const inHeader = (text: string) => text.replaceAll(/[\r\n\0]/g, "_");

/** Requests of that key, or of nobody. */
export const fuzzedOf = (key: string) =>
  fc.record({ method, target, headers, payload, hasKey: fc.boolean(), isChunked: fc.boolean() })
    .map((one) => {
      const sent = latin1(one.payload);
      const head = [
        `${one.method} {prefix}${onOneLine(one.target)} HTTP/1.1`,
        "host: x",
        ...(one.hasKey ? [`x-api-key: ${key}`] : []),
        ...one.headers.map(([name, value]) => `${name}: ${inHeader(value)}`),
        one.isChunked ? "transfer-encoding: chunked" : `content-length: ${sent.length}`,
      ].join("\r\n");
      const chunk = one.isChunked
        ? [...(sent.length > 0 ? [`${sent.length.toString(16)}\r\n`, sent, "\r\n"] : []), "0\r\n\r\n"]
        : [sent];
      return { method: one.method, head: `${head}\r\n\r\n`, chunk };
    });
