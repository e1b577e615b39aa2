/** OpenAPI 3.1 from the routes, their schemas and the error table. */
import { z } from "zod";
import { type ErrorCode, ERRORS } from "../errors.ts";
import type { Route } from "./route.ts";
import { VERSION } from "../version.ts";

type Json = Record<string, unknown>;

/** A JSON Schema for OpenAPI 3.1. `io`: whether a client sends it (`input`) or receives it. */
function schemaOf(schema: z.ZodType, io: "input" | "output") {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    reused: "inline",
    override: ({ zodSchema, jsonSchema }) => {
      // zod omits a default of a transformed string, but it is part of the description.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
      // In a query numbers and booleans are strings of a certain form; the description shows what they stand for.
      if (jsonSchema.type !== "string") delete jsonSchema.pattern;
    },
  });
  return rest;
}

/** Moves the named schemas, which zod repeats at each use, to `components/schemas`. */
function hoistSchemas(paths: Json): { hoisted: Json; schemas: Json } {
  const schemas: Json = {};
  const hoist = (value: unknown): Json =>
    JSON.parse(JSON.stringify(value, (name, inner) => {
      if (name === "$ref") return String(inner).replace("#/$defs/", "#/components/schemas/");
      if (name !== "$defs") return inner;
      Object.assign(schemas, hoist(inner));
      return undefined;
    }));
  return { hoisted: hoist(paths), schemas };
}

/** Errors of every route with credentials. */
const EVERYWHERE: readonly ErrorCode[] = ["RATE_LIMIT_EXCEEDED", "SERVICE_UNAVAILABLE", "INTERNAL_ERROR"];
/** Errors of a route about files: it takes a key, or an access token with x-project-id. */
const OF_FILES: readonly ErrorCode[] = [
  "INVALID_API_KEY",
  "INVALID_SESSION",
  "FORBIDDEN_SCOPE",
  "PROJECT_NOT_FOUND",
  "VALIDATION_ERROR",
];

/** The accepted credentials: any one of these. */
function securityOf({ credentials }: Route): Record<string, []>[] {
  const keys: Record<string, []>[] = [{ apiKey: [] }, { bearer: [] }];
  if (credentials === "account") return [{ account: [] }];
  if (credentials === "account or key") return [{ account: [] }, ...keys];
  return credentials === "key" ? [...keys, { account: [] }] : [];
}

function errorsOf(route: Route): readonly ErrorCode[] {
  const { credentials, openapi: { errors } } = route;
  if (credentials === "none" || credentials === "secret key") return errors;
  return [...new Set([...credentials === "key" ? OF_FILES : [], ...errors, ...EVERYWHERE])];
}

const RATE_HEADERS = Object.fromEntries(
  ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"]
    .map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

function parametersOf(route: Route): Json[] {
  const parameters: Json[] = [];
  if (route.pattern.endsWith("/*")) {
    parameters.push({
      name: "path",
      in: "path",
      required: true,
      description: "The file's path; slashes as they are or as %2F.",
      schema: { type: "string", minLength: 1, maxLength: 1024 },
    });
  }
  for (const [, name] of route.pattern.matchAll(/:(\w+)/g)) {
    parameters.push({ name, in: "path", required: true, schema: { type: "string", format: "uuid" } });
  }
  const ofProject = route.credentials === "key" ? ["x-project-id"] : [];
  for (const name of [...ofProject, ...route.openapi.headers ?? []]) {
    parameters.push({ name, in: "header", required: false, schema: { type: "string" } });
  }
  if (!route.openapi.query) return parameters;
  const { properties = {}, required = [] } = schemaOf(route.openapi.query, "input");
  for (const [name, schema] of Object.entries(properties)) {
    parameters.push({
      name,
      in: "query",
      required: required.includes(name),
      // Present without a value: `?metadata`.
      ...(typeof schema === "object" && schema.const === "" && { allowEmptyValue: true }),
      schema,
    });
  }
  return parameters;
}

function responsesOf(route: Route): Json {
  const answer = schemaOf(route.openapi.answer, "output");
  const ok = route.operation === null ? answer : {
    type: "object",
    required: ["success", "data", "operation", "message"],
    properties: {
      success: { const: true },
      data: answer,
      operation: { type: "string" },
      message: { type: "string" },
    },
  };
  const responses: Json = {
    "200": { description: "Success", headers: RATE_HEADERS, content: { "application/json": { schema: ok } } },
  };
  const codes = errorsOf(route);
  for (const status of new Set(codes.map((code) => ERRORS[code].status))) {
    const described = codes.filter((code) => ERRORS[code].status === status);
    responses[String(status)] = {
      description: described.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join(" "),
      headers: RATE_HEADERS,
      content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
    };
  }
  return responses;
}

/** The whole document, without `servers`. */
export function openapiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.pattern.replace(/\/\*$/, "/{path}").replaceAll(/:(\w+)/g, "{$1}");
    const item = paths[path] ??= {};
    item[route.method.toLowerCase()] = {
      operationId: route.openapi.id,
      summary: route.openapi.summary,
      description: route.openapi.description,
      security: securityOf(route),
      parameters: parametersOf(route),
      requestBody: route.openapi.body && {
        required: true,
        content: {
          "application/json": { schema: schemaOf(route.openapi.body, "input") },
          ...(route.openapi.takesRaw && {
            "application/octet-stream": {
              schema: { description: "The bytes themselves, up to the tier's size." },
            },
          }),
        },
      },
      responses: responsesOf(route),
    };
  }
  const { hoisted, schemas } = hoistSchemas(paths);
  return {
    openapi: "3.1.0",
    info: {
      title: "Versioned file storage for AI agents",
      version: VERSION,
      description: "Every write makes a new numbered version; earlier versions stay readable.",
    },
    paths: hoisted,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        bearer: { type: "http", scheme: "bearer", description: "An API key." },
        account: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "The access token of a signed-in account; x-project-id selects one of its projects.",
        },
      },
      headers: Object.fromEntries(
        Object.keys(RATE_HEADERS).map((name) => [name, {
          schema: { type: name === "X-Request-Id" ? "string" : "integer" },
        }]),
      ),
      schemas: {
        ...schemas,
        Failure: {
          type: "object",
          required: ["success", "error"],
          properties: {
            success: { const: false },
            error: {
              type: "object",
              required: ["code", "message"],
              properties: { code: { enum: Object.keys(ERRORS) }, message: { type: "string" } },
            },
            operation: { type: "string" },
            details: { type: "object" },
          },
        },
      },
    },
  };
}
