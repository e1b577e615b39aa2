/** OpenAPI 3.1 from the routes, their schemas, their headers and the error table. */
import { z } from "zod";
import * as answers from "../contract/answers.ts";
import { BRANCH_NAME_SHAPE } from "../contract/branches.ts";
import { RUN_ID_SHAPE } from "../contract/run_id.ts";
import { type Scope, scope } from "../contract/values.ts";
import { PROVENANCE_HEADERS } from "../http/provenance.ts";
import { LINK_TOKEN_SHAPE } from "../auth/link_token.ts";
import { OAUTH_RECORD_LENGTH_MAX, PATH_BYTES_MAX } from "../limits.ts";
import { VERSION } from "../version.ts";
import { FailureResponses, HEADERS_OF_STATUS } from "./failure.ts";
import { HEADER_COMPONENTS, REQUEST_HEADERS, responseHeaders } from "./headers.ts";
import { hoistSchemas, type Json, schemaOf } from "./schemas.ts";
import type { Route } from "../route.ts";
import type { ResponseHeader } from "../openapi_properties.ts";

/** The tags, each with the first segments of its routes' paths; the last tag has all other routes. */
export const TAGS: readonly { name: string; segments: readonly string[]; description: string }[] = [
  { name: "Files", segments: ["files", "diff"], description: "Write, read, list, edit, history." },
  { name: "Changes", segments: ["changes", "runs"], description: "The change feed, and runs." },
  {
    name: "Links",
    segments: ["links", "l"],
    description: "Links that read or write one file without a key.",
  },
  {
    name: "Agents",
    segments: ["mcp", "connect"],
    description: "The same operations for agents, over the Model Context Protocol.",
  },
  { name: "Memory", segments: ["memory"], description: "The backend of Anthropic's memory tool." },
  { name: "Search", segments: ["search"], description: "By substring, pattern, words and meaning." },
  {
    name: "Projects",
    segments: ["projects", "project", "invitations"],
    description: "Projects, their members, keys and activity.",
  },
  { name: "Apps", segments: ["oauth", ".well-known"], description: "Apps that sign in, by OAuth 2.1." },
  { name: "Service", segments: [], description: "The service itself." },
];

export function tagOf({ pattern }: Route): string {
  const segment = pattern.split("/")[1] ?? "";
  return TAGS.find(({ segments }) => segments.includes(segment))?.name ?? "Service";
}

/** The route's path as a template, such as `/files/append/{path}`. */
export function pathOf({ pattern }: Route): string {
  return pattern.replace(/\/\*$/, "/{path}").replaceAll(/:(\w+)/g, "{$1}");
}

const list = new Intl.ListFormat("en");

/** What a key may do with a scope by any route: `list files, read files and their versions, …`. */
export function describeScope(scope: Scope, routes: readonly Route[]): string {
  return list.format(new Set(routes.flatMap(({ allows }) => allows?.[scope] ?? [])));
}

/** `read_file` → `readFile`. */
function idOf({ operation }: Route): string {
  return (operation ?? "").replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The accepted credentials: any one of these. */
function securityOf({ credentials }: Route): Record<string, []>[] {
  const keys: Record<string, []>[] = [{ apiKey: [] }, { bearer: [] }];
  if (credentials === "account") return [{ account: [] }];
  if (credentials === "account or key") return [{ account: [] }, ...keys];
  if (credentials === "secret key") return [{ secretKey: [] }];
  if (credentials === "app") return [{ app: [] }];
  return credentials === "key" ? [...keys, { account: [] }] : [];
}

/** The forms of the variable segments of a path. */
const PARAMETERS: Readonly<Record<string, Json>> = {
  id: { format: "uuid" },
  name: { pattern: BRANCH_NAME_SHAPE.source },
  runId: { pattern: RUN_ID_SHAPE.source },
  token: { pattern: LINK_TOKEN_SHAPE.source },
  request: { pattern: "^[\\w-]+\\.[\\w-]+$", maxLength: OAUTH_RECORD_LENGTH_MAX },
};

function parametersOf(route: Route): Json[] {
  const parameters: Json[] = [];
  if (route.pattern.endsWith("/*")) {
    parameters.push({
      name: "path",
      in: "path",
      required: true,
      description: "The file's path; slashes as they are or as %2F.",
      schema: { type: "string", minLength: 1, maxLength: PATH_BYTES_MAX },
      example: "notes/plan.md",
    });
  }
  for (const [, name] of route.pattern.matchAll(/:(\w+)/g)) {
    const schema = PARAMETERS[name ?? ""];
    parameters.push({ name, in: "path", required: true, schema: { type: "string", ...schema } });
  }
  const ofProject = ["key", "account or key"].includes(route.credentials) ? ["x-project-id"] : [];
  const ofVersions = route.makesVersions ? PROVENANCE_HEADERS : [];
  for (const name of [...ofProject, ...route.openapi.headers ?? [], ...ofVersions]) {
    parameters.push({ name, in: "header", required: false, ...REQUEST_HEADERS[name] });
  }
  if (!route.openapi.query) return parameters;
  const { properties, required } = schemaOf(route.openapi.query, "input");
  for (const [name, schema] of Object.entries(Object(properties))) {
    const { description, ...rest } = Object(schema);
    const mayBeEmpty = rest.const === "" || Array.isArray(rest.enum) && rest.enum.includes("");
    parameters.push({
      name,
      in: "query",
      required: Array.isArray(required) && required.includes(name),
      ...(description && { description }),
      // Present without a value: `?metadata`.
      ...(mayBeEmpty && { allowEmptyValue: true }),
      schema: rest,
    });
  }
  return parameters;
}

const BYTES = { type: "string", format: "binary" };

function requestBodyOf({ openapi }: Route): Json | undefined {
  const { body, form, isBodyOptional, takesRaw, example } = openapi;
  if (!body && !form && !takesRaw) return undefined;
  return {
    required: !isBodyOptional,
    content: {
      ...(body && {
        "application/json": { schema: schemaOf(body, "input"), ...(example !== undefined && { example }) },
      }),
      ...(form && { "application/x-www-form-urlencoded": { schema: schemaOf(form, "input") } }),
      ...(takesRaw && {
        "application/octet-stream": {
          schema: { ...BYTES, description: "The file's bytes, up to the tier's maximum file size." },
        },
      }),
    },
  };
}

const message = z.string().describe("A sentence for people that describes the result.");

function jsonContent({ operation, openapi: { answer, isPlain, isProtocol } }: Route): Json {
  if (!answer) throw new Error("the response is only ever bytes");
  if (operation === null || isPlain || isProtocol) {
    if (typeof answer !== "string") throw new Error("without an envelope there is one answer");
    return { schema: schemaOf(answers[answer], "output") };
  }
  const each = typeof answer === "string" ? [[operation, answer] as const] : answer;
  const envelopes = each.map(([name, data]) =>
    schemaOf(
      z.object({ success: z.literal(true), data: answers[data], operation: z.literal(name), message }),
      "output",
    )
  );
  return { schema: envelopes.length === 1 ? envelopes[0] : { oneOf: envelopes } };
}

const RAW_HEADERS = ["ETag", "Accept-Ranges", "X-Content-Type-Options", "Content-Security-Policy"] as const;

function responsesOf(route: Route, failures: FailureResponses): Json {
  const { headers: given, returnsRaw, responseHeaders: particular = [], statuses = [], isPlain, mediaType } =
    route.openapi;
  const { successStatus = 200 } = route.openapi;
  const isWrite = given?.includes("Idempotency-Key") ?? false;
  const ofWrite: ResponseHeader[] = isWrite ? ["Idempotency-Replayed"] : [];
  // A write answers with the tag of its version.
  if (isWrite && !isPlain) ofWrite.push("ETag");
  const bytes = { "*/*": { schema: { ...BYTES, description: "The file's bytes, with its own type." } } };
  const headers = responseHeaders([...particular, ...ofWrite, ...returnsRaw ? RAW_HEADERS : []]);
  const json = mediaType
    ? { [mediaType]: { schema: mediaType.startsWith("text/") ? { type: "string" } : BYTES } }
    : returnsRaw !== "only" && { "application/json": jsonContent(route) };
  const others = statuses.map((status) => [status, {
    description: "Not so",
    headers: responseHeaders(["Retry-After"]),
    ...(json && { content: json }),
  }]);
  const success = { description: "Success", headers, content: { ...json, ...(returnsRaw && bytes) } };
  return {
    [successStatus]: successStatus === 302 ? { description: "Success", headers } : success,
    ...(returnsRaw && {
      "206": {
        description: "One range of the bytes",
        headers: { ...headers, ...responseHeaders(["Content-Range"]) },
        content: bytes,
      },
    }),
    ...(given?.includes("If-None-Match") && route.method === "GET" && {
      "304": { description: "What `If-None-Match` names is current", headers: responseHeaders(["ETag"]) },
    }),
    ...failures.of(route),
    ...route.openapi.isProtocol && protocolResponses(route, failures),
    ...route.openapi.speaksOAuth && OAUTH_FAILURES,
    ...Object.fromEntries(others),
  };
}

/** The answers of JSON-RPC over HTTP other than 200. */
function protocolResponses(route: Route, failures: FailureResponses): Json {
  const { schema } = Object(jsonContent(route));
  const orFailure = (status: number) => {
    const { $ref } = Object(Object(failures.of(route))[status]);
    const failure = Object(failures.components[String($ref).split("/").at(-1) ?? ""]);
    const envelope = failure.content?.["application/json"].schema;
    const other = failure.description ? ` ${failure.description}` : "";
    return {
      description: `A protocol error, as a JSON-RPC error object.${other}`,
      headers: responseHeaders([]),
      content: { "application/json": { schema: envelope ? { anyOf: [schema, envelope] } : schema } },
    };
  };
  return {
    "202": { description: "The notification was accepted.", headers: responseHeaders([]) },
    "400": orFailure(400),
    "404": orFailure(404),
  };
}

const oauthFailure = z.object({ error: z.string(), error_description: z.string() })
  .meta({ id: "OAuthFailure", description: "RFC 6749, section 5.2." });

const OAUTH_FAILURES: Json = Object.fromEntries(
  Object.entries({
    400: "The request is not valid.",
    401: "There is no such client.",
    429: "The client address sent too many requests.",
    503: "The database did not answer; try again later.",
  }).map(([status, description]) => [status, {
    description,
    headers: responseHeaders(HEADERS_OF_STATUS[Number(status)] ?? []),
    content: { "application/json": { schema: schemaOf(oauthFailure, "output") } },
  }]),
);

const DESCRIPTION = `Every write adds a numbered version; earlier versions stay readable.

Every answer has an envelope, except those of \`/health\`, \`/llms.txt\`, this document, and OAuth:
\`{success: true, data, operation, message}\`, or \`{success: false, error: {code, message}}\` with \`operation\` and
\`details\` if there are any. Routes with GET also answer HEAD. Any other path is 404 \`ROUTE_NOT_FOUND\`, any other
method 405 \`METHOD_NOT_ALLOWED\` with \`Allow\`.
Later versions may add fields to answers; clients must ignore unknown fields.`;

/** The whole document, without `servers`. */
export function openapiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  const failures = new FailureResponses();
  for (const route of routes) {
    const path = pathOf(route);
    const item = paths[path] ??= {};
    const { id = idOf(route), summary, description = summary } = route.openapi;
    item[route.method.toLowerCase()] = {
      operationId: id,
      tags: [tagOf(route)],
      summary,
      description,
      security: securityOf(route),
      parameters: parametersOf(route),
      requestBody: requestBodyOf(route),
      responses: responsesOf(route, failures),
    };
  }
  const { hoisted, schemas } = hoistSchemas({ paths, responses: failures.components });
  const key = [
    "An API key. Its scopes allow:",
    ...scope.options.map((scope) => `\n- \`${scope}\`: ${describeScope(scope, routes)}`),
  ].join("");
  return {
    openapi: "3.1.0",
    info: {
      title: "Versioned file storage for AI agents",
      version: VERSION,
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
      contact: { name: "The operator of this service" },
    },
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths: hoisted["paths"],
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: key },
        bearer: { type: "http", scheme: "bearer", description: key },
        account: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "The access token of a signed-in account; x-project-id selects one of its projects.",
        },
        app: {
          type: "http",
          scheme: "bearer",
          description: "The access token of an app that a person let into a project.",
        },
        secretKey: {
          type: "http",
          scheme: "bearer",
          description: "The secret key of the Supabase project, for its operator.",
        },
      },
      headers: HEADER_COMPONENTS,
      responses: hoisted["responses"],
      schemas,
    },
  };
}
