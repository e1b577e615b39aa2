/** GET /openapi.json describes the service: every route, parameter, bound and error, in a document that is valid. */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { z } from "zod";
import { MEDIA_TYPES } from "../../supabase/functions/api/contract/media_types.ts";
import { ERRORS } from "../../supabase/functions/api/errors.ts";
import {
  CONTENT_LENGTH_MAX,
  EDIT_STRING_LENGTH_MAX,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
} from "../../supabase/functions/api/limits.ts";
import { openapiDocument } from "../../supabase/functions/api/openapi/document.ts";
import { ROUTES } from "../../supabase/functions/api/routes/mod.ts";
import { type Code, STATUS_OF } from "../support/client/contract.ts";
import { DocumentCheck } from "../support/openapi/document_check.ts";
import { suite, test } from "../support/stack/suite.ts";

const { service } = await suite();

const schema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  enum: z.array(z.unknown()).optional(),
  default: z.unknown().optional(),
});
const objectSchema = z.looseObject({
  properties: z.record(z.string(), schema),
  required: z.array(z.string()).optional(),
});
const parameter = z.looseObject({ name: z.string(), in: z.string(), required: z.boolean(), schema });
const operation = z.looseObject({
  operationId: z.string(),
  security: z.array(z.unknown()),
  parameters: z.array(parameter),
  requestBody: z.unknown().optional(),
  responses: z.record(z.string(), z.looseObject({ description: z.string(), headers: z.unknown() })),
});
const document = z.looseObject({
  openapi: z.literal("3.1.0"),
  paths: z.record(z.string(), z.record(z.string(), operation)),
});

const answer = await service.request(null, "GET", "/openapi.json");
const { paths } = document.parse(withResponses(answer.body));

/** With the responses in place that several routes refer to. */
function withResponses(body: unknown): unknown {
  const { components: { responses } } = z.looseObject({
    components: z.looseObject({ responses: z.record(z.string(), z.unknown()) }),
  }).parse(body);
  const shared = "#/components/responses/";
  return JSON.parse(JSON.stringify(body), (_, value) => {
    const reference = Object(value)["$ref"];
    return typeof reference === "string" && reference.startsWith(shared)
      ? responses[reference.slice(shared.length)]
      : value;
  });
}

function operationAt(path: string, method: string): z.infer<typeof operation> {
  const found = paths[path]?.[method];
  if (!found) throw new Error(`${method} ${path} is not documented`);
  return found;
}

const QUERY = ["INVALID_PATH", "VALIDATION_ERROR"] as const;
const WRITE = [...QUERY, "INVALID_JSON", "CONTENT_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const;
const EDIT = ["VERSION_CONFLICT", "NOT_TEXT", "STRING_NOT_FOUND", "STRING_NOT_UNIQUE"] as const;

/** The contract's routes and the errors of their own. */
const KEYED: readonly (readonly [string, string, readonly Code[]])[] = [
  ["/files", "post", WRITE],
  ["/files", "get", QUERY],
  ["/files/{path}", "get", [...QUERY, "FILE_NOT_FOUND", "VERSION_NOT_FOUND", "NOT_TEXT", "CONTENT_CORRUPT"]],
  ["/search", "get", [...QUERY, "SEARCH_TOO_BROAD", "SEMANTIC_SEARCH_UNAVAILABLE"]],
  ["/files/append/{path}", "put", [...WRITE, "FILE_NOT_FOUND"]],
  ["/files/overwrite/{path}", "put", [...WRITE, "FILE_NOT_FOUND"]],
  ["/files/edit/{path}", "put", [...WRITE, "FILE_NOT_FOUND", ...EDIT]],
];
const EVERYWHERE: readonly Code[] = [
  "INVALID_API_KEY",
  "RATE_LIMIT_EXCEEDED",
  "SERVICE_UNAVAILABLE",
  "INTERNAL_ERROR",
];

test("200: the document needs no key, is OpenAPI 3.1, and a validator takes it with every reference resolved", async () => {
  assertEquals(answer.status, 200);
  const validator = new Validator();
  const result = await validator.validate(JSON.parse(answer.text));
  assertEquals(result.valid, true, JSON.stringify(result.errors));
  for (const reference of answer.text.matchAll(/"\$ref":"([^"]+)"/g)) {
    assert(resolves(JSON.parse(answer.text), reference[1] ?? ""), `${reference[1]} leads nowhere`);
  }
});

test("the document is the one that every answer of these tests is held against", () => {
  const { servers: _, ...rest } = z.record(z.string(), z.unknown()).parse(answer.body);
  assertEquals(rest, JSON.parse(JSON.stringify(openapiDocument(ROUTES))));
});

test("an answer that is not documented fails the test that asked for it: status, header, field, type, code", () => {
  const check = new DocumentCheck(answer.body);
  const record = {
    ...{ id: crypto.randomUUID(), path: "f", version: 1, mimeType: "text/plain", size: 1 },
    ...{ createdAt: "2026-11-20T09:30:00.000Z", updatedAt: "2026-11-20T09:30:00.000Z" },
  };
  const body = { success: true, data: record, operation: "get_file_metadata", message: "." };
  const json = "application/json; charset=utf-8";
  const failure = (code: string, details = {}) => ({
    success: false,
    error: { code, message: "." },
    details,
  });
  const complaint = (
    { status = 200, value = body, type = json, more = {} }: {
      status?: number;
      value?: unknown;
      type?: string;
      more?: Record<string, string>;
    },
  ) => {
    const headers = new Headers([...answer.headers, ...Object.entries(more)]);
    headers.set("content-type", type);
    return check.complaint({
      method: "GET",
      rawPath: "/api/files/a/b",
      status,
      headers,
      text: JSON.stringify(value),
    });
  };
  assertEquals(complaint({}), null);
  assertEquals(complaint({ status: 404, value: failure("FILE_NOT_FOUND", { deletedVersion: 1 }) }), null);
  assertEquals(
    check.complaint({
      ...{ method: "GET", rawPath: "/api/nowhere", status: 404, headers: answer.headers },
      text: JSON.stringify(failure("ROUTE_NOT_FOUND")),
    }),
    null,
  );
  const faults = [
    [{ status: 201 }, "no such status"],
    [{ more: { "x-new": "1" } }, "the header x-new"],
    [{ more: { etag: '"x"', "retry-after": "1" } }, "the header retry-after"],
    [{ more: { "idempotency-replayed": "yes" } }, "the header idempotency-replayed"],
    [{ type: "text/html" }, "text/html"],
    [{ value: { ...body, data: { ...record, owner: "x" } } }, "owner"],
    [{ value: { ...body, data: { ...record, size: -1 } } }, "size"],
    [{ value: { ...body, extra: 1 } }, "extra"],
    [{ value: { ...body, operation: "list_files" } }, "operation"],
    [{ status: 404, value: failure("NOT_TEXT") }, "code"],
    [{ status: 404, value: failure("FILE_NOT_FOUND", { secret: 1 }) }, "secret"],
  ] as const;
  for (const [fault, expected] of faults) {
    assert(complaint(fault)?.includes(expected), `${expected}: ${complaint(fault)}`);
  }
});

test("`servers` leads to the function: by the gateway that the request came by, and without one", async () => {
  const serverOf = async (url: string, headers: Record<string, string> = {}) => {
    const { body } = await service.requestAt(`${url}/openapi.json`, "GET", headers);
    return z.looseObject({ servers: z.array(z.looseObject({ url: z.string() })).length(1) }).parse(body)
      .servers[0]?.url;
  };
  assertEquals(await serverOf(service.baseUrl), service.baseUrl);
  assertEquals((await service.requestAt(`${service.baseUrl}/health`, "GET")).status, 200);
  await service.withBareFunction(async (origin) => {
    // As the platform passes it on: the path without its beginning, and the host in headers.
    const hosted = {
      "x-forwarded-host": "ref.supabase.co",
      "x-forwarded-port": "443",
      "x-forwarded-proto": "https",
    };
    assertEquals(await serverOf(`${origin}/api`, hosted), "https://ref.supabase.co/functions/v1/api");
    for (const path of ["", "/api", "/functions/v1/api"]) {
      const server = await serverOf(origin + path);
      assertEquals((await service.requestAt(`${server}/health`, "GET")).status, 200, path);
    }
  });
});

test("the document describes headers, 206, 304, bytes, what `lines` adds, examples, tags and the licence", () => {
  const { info, tags } = z.looseObject({
    info: z.looseObject({ license: z.looseObject({ identifier: z.string() }) }),
    tags: z.array(z.looseObject({ name: z.string() })),
  }).parse(answer.body);
  assertEquals(info.license.identifier, "MIT");
  const names = tags.map(({ name }) => name);
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { tags }] of Object.entries(item)) {
      assert(
        z.array(z.string()).length(1).parse(tags).every((tag) => names.includes(tag)),
        `${method} ${path}`,
      );
    }
  }
  const read = operationAt("/files/{path}", "get").responses;
  const has = (status: string, text: string) => {
    assert(JSON.stringify(read[status] ?? null).includes(`"${text}"`), `${status} ${text}`);
  };
  for (const name of ["ETag", "Accept-Ranges", "*/*", "examples"]) has("200", name);
  for (const name of ["ETag", "Content-Range", "*/*"]) has("206", name);
  has("304", "ETag");
  has("416", "Content-Range");
  has("429", "Retry-After");
  has("503", "Retry-After");
  const append = JSON.stringify(operationAt("/files/append/{path}", "put"));
  for (const name of ["ETag", "Idempotency-Replayed", "example"]) assert(append.includes(`"${name}"`), name);
  for (const name of ["startLine", "endLine", "totalLines"]) assert(answer.text.includes(`"${name}"`), name);
  for (const path of ["/files/append/{path}", "/files/overwrite/{path}"]) {
    const found = operationAt(path, "put").parameters.find(({ name }) => name === "raw");
    assertEquals(found?.schema.enum, ["", "true", "false"]);
  }
});

for (const [path, method, codes] of KEYED) {
  test(`${method.toUpperCase()} ${path} is documented with its statuses and codes, rate headers and keys`, () => {
    const { responses, security } = operationAt(path, method);
    assert("200" in responses);
    assert(security.length > 0);
    for (const code of [...codes, ...EVERYWHERE]) {
      const response = responses[String(STATUS_OF[code])];
      assert(response?.description.includes(code), `${code} is not documented`);
    }
    for (const { headers } of Object.values(responses)) {
      for (
        const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"]
      ) {
        assert(name in z.record(z.string(), z.unknown()).parse(headers), name);
      }
    }
  });
}

test("GET /health and the documents are documented as open to anyone", () => {
  for (const path of ["/health", "/openapi.json", "/llms.txt"]) {
    assertEquals(operationAt(path, "get").security, []);
  }
});

test("each documented route exists: it answers something else than 404 ROUTE_NOT_FOUND and 405", async () => {
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of Object.keys(methods)) {
      const response = await fetch(service.baseUrl + path.replace("{path}", "x"), { method });
      const text = await response.text();
      assert(response.status !== 405 && !text.includes('"code":"ROUTE_NOT_FOUND"'), `${method} ${path}`);
    }
  }
});

test("each error code of the service is in the document", () => {
  for (const code of Object.keys(ERRORS)) assert(answer.text.includes(`"${code}"`), code);
});

/** Query parameters with the exact bounds. */
const PARAMETERS: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ["/files", "limit", { minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT }],
  ["/files", "offset", { minimum: 0, default: 0 }],
  ["/files", "directory", { default: "/" }],
  ["/files", "recursive", { type: "boolean", default: false }],
  ["/files", "sortBy", { enum: ["path", "created_at", "updated_at", "size"], default: "path" }],
  ["/files", "sortOrder", { enum: ["asc", "desc"], default: "asc" }],
  ["/files", "contentType", { enum: [...MEDIA_TYPES] }],
  ["/files", "minSize", { minimum: 0 }],
  ["/files", "maxSize", { minimum: 0 }],
  ["/files", "createdAfter", { format: "date-time" }],
  ["/files", "createdBefore", { format: "date-time" }],
  ["/files", "updatedAfter", { format: "date-time" }],
  ["/files", "updatedBefore", { format: "date-time" }],
  ["/search", "mode", { enum: ["text", "regex", "semantic", "hybrid"], default: "hybrid" }],
  ["/search", "limit", { minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT }],
  ["/search", "directory", { default: "/" }],
  ["/search", "glob", {}],
  ["/search", "contentType", { enum: [...MEDIA_TYPES] }],
  ["/search", "caseSensitive", { type: "boolean", default: true }],
  ["/search", "offset", { minimum: 0, default: 0 }],
  ["/files/{path}", "version", { minimum: 1 }],
  ["/files/{path}", "limit", { minimum: 1, maximum: PAGE_LIMIT_MAX, default: PAGE_LIMIT_DEFAULT }],
  ["/files/{path}", "offset", { minimum: 0, default: 0 }],
  ["/files/{path}", "encoding", { enum: ["utf8", "base64"] }],
  ["/files/{path}", "metadata", {}],
  ["/files/{path}", "versions", {}],
];

for (const [path, name, expected] of PARAMETERS) {
  test(`GET ${path} documents ${name} with ${JSON.stringify(expected).slice(0, 60)}`, () => {
    const found = operationAt(path, "get").parameters.find((one) => one.in === "query" && one.name === name);
    if (!found) throw new Error(`${name} is not documented`);
    assertEquals(found.required, false);
    for (const [bound, value] of Object.entries(expected)) assertEquals(found.schema[bound], value, bound);
  });
}

test("request bodies document their fields with the exact bounds", () => {
  const body = (path: string, method: string, field: string) =>
    objectSchema.parse(schemaWith(operationAt(path, method).requestBody, field));
  const write = body("/files", "post", "path");
  assertEquals(write.required?.toSorted(), ["content", "path"]);
  assertEquals(write.properties["path"]?.minLength, 1);
  assertEquals(write.properties["content"]?.maxLength, CONTENT_LENGTH_MAX);
  assert(JSON.stringify(write.properties["contentType"]).includes("text/x-c++src"));
  assert("isBase64" in write.properties);
  const append = body("/files/append/{path}", "put", "content").properties["content"];
  assertEquals([append?.minLength, append?.maxLength], [1, CONTENT_LENGTH_MAX]);
  const overwrite = body("/files/overwrite/{path}", "put", "content").properties["content"];
  assertEquals([overwrite?.minLength ?? 0, overwrite?.maxLength], [0, CONTENT_LENGTH_MAX]);
  const edit = body("/files/edit/{path}", "put", "oldString").properties;
  assertEquals([edit["oldString"]?.minLength, edit["oldString"]?.maxLength], [1, EDIT_STRING_LENGTH_MAX]);
  assertEquals([edit["newString"]?.minLength ?? 0, edit["newString"]?.maxLength], [
    0,
    EDIT_STRING_LENGTH_MAX,
  ]);
});

/** The first object schema within a request body that has the field: an edit takes one of several shapes. */
function schemaWith(within: unknown, field: string): unknown {
  if (typeof within !== "object" || within === null) return undefined;
  const found = objectSchema.safeParse(within);
  if (found.success && Object.hasOwn(found.data.properties, field)) return within;
  return Object.values(within).map((inner) => schemaWith(inner, field)).find(Boolean);
}

/** Objects with fields, wherever they are below, references followed: each says whether it takes others. */
function objectsIn(within: unknown, seen = new Set<unknown>()): Record<string, unknown>[] {
  if (typeof within !== "object" || within === null || seen.has(within)) return [];
  seen.add(within);
  const reference: unknown = Reflect.get(within, "$ref");
  if (typeof reference === "string") return objectsIn(target(answer.body, reference), seen);
  const inner = Object.values(within).flatMap((one) => objectsIn(one, seen));
  const found = objectSchema.safeParse(within);
  return found.success && found.data["type"] === "object" ? [found.data, ...inner] : inner;
}

test("requests are closed to fields that the service does not know, answers are open to later ones", () => {
  let closed = 0;
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { requestBody, responses }] of Object.entries(methods)) {
      const isOpen = path === "/memory" || path === "/mcp";
      const objects = objectsIn(requestBody);
      closed += isOpen ? 0 : objects.length;
      for (const { additionalProperties } of objects) {
        assertEquals(additionalProperties === false, !isOpen, `${method} ${path}`);
      }
      for (const { additionalProperties } of objectsIn(responses)) {
        assert(additionalProperties !== false, `${method} ${path}`);
      }
    }
  }
  assertGreater(closed, 20);
});

/** Whether a reference within the document has a target. */
function resolves(root: unknown, reference: string): boolean {
  return target(root, reference) !== undefined;
}

/** What a reference leads to. */
function target(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let at = root;
  for (const part of reference.slice(2).split("/")) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Reflect.get(at, part.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return at;
}

/** The routes about accounts, and whether a key will do. */
const ACCOUNT_ROUTES: readonly (readonly [string, string, boolean, readonly Code[]])[] = [
  ["/account", "get", false, []],
  ["/projects", "get", false, []],
  ["/projects", "post", false, ["VALIDATION_ERROR", "PROJECT_NAME_TAKEN", "PROJECT_LIMIT_REACHED"]],
  ["/project", "get", true, ["PROJECT_NOT_FOUND"]],
  ["/project", "patch", true, ["VALIDATION_ERROR", "PROJECT_NOT_FOUND", "PROJECT_NAME_TAKEN"]],
  ["/project/activity", "get", true, ["VALIDATION_ERROR", "PROJECT_NOT_FOUND"]],
  ["/project/usage", "get", true, ["VALIDATION_ERROR", "PROJECT_NOT_FOUND"]],
  ["/project/apikeys", "get", true, ["PROJECT_NOT_FOUND"]],
  ["/project/apikeys", "post", true, ["VALIDATION_ERROR", "PROJECT_NOT_FOUND", "KEY_LIMIT_REACHED"]],
  ["/project/apikeys/{id}", "delete", true, ["PROJECT_NOT_FOUND", "KEY_NOT_FOUND"]],
  ["/project/apikeys/{id}/rotate", "post", true, [
    "VALIDATION_ERROR",
    "KEY_NOT_FOUND",
    "KEY_REVOKED",
    "KEY_LIMIT_REACHED",
  ]],
  ["/project/apikey/regenerate", "post", true, ["VALIDATION_ERROR", "KEY_LIMIT_REACHED"]],
];

for (const [path, method, takesKey, codes] of ACCOUNT_ROUTES) {
  test(`${method.toUpperCase()} ${path} is documented, with its credentials and refusals`, () => {
    const { security, parameters, responses } = operationAt(path, method);
    assert(security.length >= (takesKey ? 2 : 1), "how to come in");
    const keyed: readonly Code[] = takesKey ? ["FORBIDDEN_SCOPE", "RATE_LIMIT_EXCEEDED"] : [];
    for (const code of [...codes, ...keyed, "INVALID_SESSION" as const]) {
      assert(responses[STATUS_OF[code]]?.description.includes(code), `${code} is not documented`);
    }
    assertEquals(
      parameters.some(({ name, in: place }) => name === "x-project-id" && place === "header"),
      takesKey,
    );
    assertEquals(
      parameters.some(({ name, in: place }) => name === "id" && place === "path"),
      path.includes("{id}"),
    );
  });
}

test("every file route documents FORBIDDEN_SCOPE, and how an owner comes in", () => {
  for (const [path, method] of KEYED) {
    const { responses, security } = operationAt(path, method);
    assert(responses["403"]?.description.includes("FORBIDDEN_SCOPE"), `${method} ${path}`);
    assert(JSON.stringify(security).length > 2, `${method} ${path}`);
  }
});
