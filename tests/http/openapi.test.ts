/** GET /openapi.json is a valid document that describes every route, parameter, limit and error of the service. */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { Validator } from "@seriousme/openapi-schema-validator";
import { z } from "zod";
import { ERRORS } from "../../supabase/functions/api/errors.ts";
import { openapiDocument } from "../../supabase/functions/api/openapi/document.ts";
import { allRoutes } from "../../supabase/functions/api/routes/mod.ts";
import { suite, test } from "../support/stack/suite.ts";

const ROUTES = await allRoutes();

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
const path = z.record(z.string(), operation);
const document = z.looseObject({ openapi: z.literal("3.1.0"), paths: z.record(z.string(), path) });

const answer = await service.request(null, "GET", "/openapi.json");
const { paths } = document.parse(withResponses(answer.body));

/** The document with references to shared responses replaced by the responses. */
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

test("200: the document needs no key, is OpenAPI 3.1, and a validator takes it with every reference resolved", async () => {
  assertEquals(answer.status, 200);
  const result = await new Validator().validate(JSON.parse(answer.text));
  assertEquals(result.valid, true, JSON.stringify(result.errors));
  for (const [, reference = ""] of answer.text.matchAll(/"\$ref":"([^"]+)"/g)) {
    assert(target(answer.body, reference) !== undefined, `${reference} leads nowhere`);
  }
});

test("the document is the one that every answer of these tests is held against", () => {
  const { servers: _, ...rest } = z.record(z.string(), z.unknown()).parse(answer.body);
  assertEquals(rest, JSON.parse(JSON.stringify(openapiDocument(ROUTES))));
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
    // As the platform passes it on: the path without its prefix, and the host in headers.
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

/** All object schemas with fields, at any depth and through references. Each must state whether it allows other fields. */
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
      // OAuth's servers ignore what they do not know, and clients of MCP and of memory send more.
      const isOpen = /^\/(memory|mcp|connect|oauth\/(register|token|revoke))$/.test(path);
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

/** The target of a reference. */
function target(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let at = root;
  for (const part of reference.slice(2).split("/")) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Reflect.get(at, part.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return at;
}
