/** Checks that /openapi.json describes an answer: its status, headers, type and body. */
import { z } from "zod";
import { openapiDocument } from "../../../supabase/functions/api/openapi/document.ts";
import { allRoutes } from "../../../supabase/functions/api/routes/mod.ts";
import type { Answer } from "../client/contract.ts";
import { StrictSchemas } from "./strict_schemas.ts";

const ROUTES = await allRoutes();

/** An answer of the service, and the path of its request, as sent, without the query. */
type Exchange = Pick<Answer, "method" | "status" | "headers" | "text" | "body"> & {
  readonly rawPath: string;
};

let check: DocumentCheck | undefined;

/** Throws if /openapi.json does not describe the answer. `path` may have the function's prefix and a query. */
export function assertDocumented(answer: Answer, path: string): void {
  check ??= new DocumentCheck(openapiDocument(ROUTES));
  const { method, status } = answer;
  const [rawPath = ""] = path.split("?", 1);
  const found = check.complaint({ ...answer, rawPath });
  if (found === null) return;
  const what = `${method} ${rawPath.slice(0, 200)} answered ${status}`;
  throw new Error(`${what}, and /openapi.json says otherwise: ${found}`);
}

const schema = z.record(z.string(), z.unknown());
const reference = z.object({ $ref: z.string() });
const header = z.looseObject({ required: z.boolean().optional(), schema });
const response = z.looseObject({
  headers: z.record(z.string(), reference),
  content: z.record(z.string(), z.looseObject({ schema })).optional(),
});
type DocumentedResponse = z.infer<typeof response>;
const operation = z.looseObject({
  operationId: z.string(),
  responses: z.record(z.string(), z.union([reference, response])),
});
type DocumentedOperation = z.infer<typeof operation>;
const openapi = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({
    headers: z.record(z.string(), header),
    responses: z.record(z.string(), response),
    schemas: z.record(z.string(), schema),
  }),
});

/** Headers that connections, CORS, caches and content negotiation may add to any answer; OpenAPI does not describe them. */
const OF_HTTP =
  /^(content-(type|length|encoding)|date|connection|keep-alive|transfer-encoding|vary|access-control-.*)$/;
const JSON_TYPE = "application/json; charset=utf-8";

class DocumentCheck {
  readonly #document: z.infer<typeof openapi>;
  readonly #schemas: StrictSchemas;
  readonly #parsed = new Map<object, DocumentedResponse>();
  /** The answer to paths and methods that no route has. */
  readonly #unrouted: DocumentedResponse;

  constructor(document: unknown) {
    this.#document = openapi.parse(document);
    const { schemas, headers } = this.#document.components;
    this.#schemas = new StrictSchemas(schemas);
    const common = Object.entries(headers).filter(([, { required }]) => required);
    this.#unrouted = {
      headers: Object.fromEntries(common.map(([name]) => [name, { $ref: `#/components/headers/${name}` }])),
      content: { "application/json": { schema: { $ref: "#/components/schemas/Failure" } } },
    };
  }

  /** Describes how the answer differs from the document; null if it does not. */
  complaint(exchange: Exchange): string | null {
    const { method, status, headers } = exchange;
    // Only the browser reads the answer to a preflight.
    if (method === "OPTIONS" && status === 204) return null;
    // The gateway's own answer, while no process of the function runs.
    if (!headers.has("x-request-id") && [503, 504].includes(status)) {
      return this.#bodyComplaint(exchange, this.#unrouted);
    }
    const route = this.#operationOf(exchange);
    if (!route) {
      if (status !== 404 && status !== 405) return "there is no such route";
      return this.#answerComplaint(exchange, this.#unrouted, status === 405 ? ["allow"] : []);
    }
    const documented = route.responses[String(status)];
    if (!documented) return `${route.operationId} has no such status: ${exchange.text.slice(0, 300)}`;
    return this.#answerComplaint(exchange, this.#resolve(documented), []);
  }

  #answerComplaint(
    exchange: Exchange,
    documented: DocumentedResponse,
    more: readonly string[],
  ): string | null {
    return this.#headersComplaint(exchange.headers, documented, more) ??
      this.#bodyComplaint(exchange, documented);
  }

  #headersComplaint(given: Headers, { headers }: DocumentedResponse, more: readonly string[]): string | null {
    const names = new Map(Object.keys(headers).map((name) => [name.toLowerCase(), name]));
    for (const [name, value] of given) {
      if (OF_HTTP.test(name) || more.includes(name)) continue;
      const documented = this.#document.components.headers[names.get(name) ?? ""];
      if (!documented) return `the header ${name} is not documented`;
      const isNumber = documented.schema["type"] === "integer" && /^\d+$/.test(value);
      const found = this.#schemas.complaint(documented.schema, isNumber ? Number(value) : value);
      if (found) return `the header ${name}: ${found}`;
    }
    const missing = [...names].find(([lower, name]) =>
      this.#document.components.headers[name]?.required && !given.has(lower)
    );
    return missing ? `the header ${missing[1]} is missing` : null;
  }

  #bodyComplaint(
    { method, headers, text, body }: Exchange,
    { content = {} }: DocumentedResponse,
  ): string | null {
    const type = headers.get("content-type");
    if (type === null) {
      return Object.keys(content).length > 0 && method !== "HEAD" && text !== "" ? "no type" : null;
    }
    // A file's bytes, of any type.
    if (headers.has("accept-ranges")) {
      const type = headers.get("content-type") ?? "";
      return "*/*" in content || type in content ? null : `bytes of ${type} are not documented`;
    }
    // Text that is not JSON.
    if (type.startsWith("text/") && (type.split(";")[0] ?? "") in content) return null;
    const documented = content["application/json"];
    if (type !== JSON_TYPE || !documented) return `the type ${type} is not documented`;
    if (method === "HEAD") return null;
    return this.#schemas.complaint(documented.schema, body);
  }

  #resolve(documented: z.infer<typeof reference> | DocumentedResponse): DocumentedResponse {
    const name = "$ref" in documented ? String(documented.$ref).split("/").at(-1) ?? "" : "";
    const found = this.#document.components.responses[name] ?? this.#parsed.get(documented);
    if (found) return found;
    // Parsing creates a copy, but schemas are compiled once for each object.
    const parsed = response.parse(documented);
    this.#parsed.set(documented, parsed);
    return parsed;
  }

  #operationOf({ method, rawPath }: Exchange): DocumentedOperation | undefined {
    const path = rawPath.replace(/^(\/functions\/v1)?\/api(?=\/|$)/, "");
    const asked = method === "HEAD" ? "get" : method.toLowerCase();
    for (const [template, item] of Object.entries(this.#document.paths)) {
      const found = item[asked];
      if (found && patternOf(template).test(path)) return found;
    }
    return undefined;
  }
}

const patterns = new Map<string, RegExp>();

/** `{path}` may contain slashes, other parameters may not. No two routes of one method match the same path. */
function patternOf(template: string): RegExp {
  const known = patterns.get(template);
  if (known) return known;
  const source = template.replaceAll(".", "\\.").replace("{path}", ".*").replaceAll(/\{\w+\}/g, "[^/]+");
  const pattern = new RegExp(`^${source}$`, "s");
  patterns.set(template, pattern);
  return pattern;
}
