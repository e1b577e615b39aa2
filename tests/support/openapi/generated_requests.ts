/**
 * Random requests from /openapi.json: each operation with parameters and bodies that its schemas allow, and in every
 * second request one part that they forbid. The same seed gives the same requests.
 */
import { z } from "zod";
import type { Random } from "../random.ts";
import {
  BROKEN_BODIES,
  ODD_CONTENT_TYPES,
  ODD_ESCAPES,
  ODD_HEADERS,
  ODD_JSON,
  ODD_TEXTS,
  oddJson,
} from "./odd_values.ts";
import { SchemaValues } from "./schema_values.ts";

const parameter = z.looseObject({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean(),
  allowEmptyValue: z.boolean().optional(),
  schema: z.unknown(),
});
type Parameter = z.infer<typeof parameter>;
const operation = z.looseObject({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z.array(parameter),
  requestBody: z.looseObject({
    content: z.record(z.string(), z.looseObject({ schema: z.unknown() })),
  }).optional(),
});
const openapi = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
});

export interface GeneratedRequest {
  readonly operationId: string;
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** The names of the credentials that the operation accepts; empty if it needs none. */
  readonly credentials: readonly string[];
}

export const FILES = ["a.txt", "b.md", "dir/c.json", "dir/d e.txt", "dir/deep/f.png", "dir/deep/日.ts"];
const FOLDERS = ["/", "dir", "/dir/deep/", "none"];
/** Without slashes around them, for the routes about folders. */
const PLAIN_FOLDERS = ["dir", "dir/deep"];
const RUNS = ["run-1", "run-2", "run-3"];
const TEXTS = ["one", "one two", "two\n", "one\none\n", "", "x\ny\nz\n"];

export class RequestGenerator {
  readonly #operations: readonly { method: string; template: string; operation: z.infer<typeof operation> }[];
  readonly #values: SchemaValues;
  /** Ids of keys and of links, for the routes that name one. */
  readonly keyIds: string[] = [];
  readonly linkIds: string[] = [];
  /** Tokens of links. */
  readonly tokens: string[] = [];

  /** The ids to use in the next request. */
  #ids: readonly string[] = [];
  #isAboutFolder = false;

  constructor(document: unknown, readonly random: Random) {
    const { paths, components } = openapi.parse(document);
    this.#operations = Object.entries(paths).flatMap(([template, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        method: method.toUpperCase(),
        template,
        operation,
      }))
    );
    this.#values = new SchemaValues(random, components.schemas, (name) => this.#meant(name));
  }

  get operationIds(): string[] {
    return this.#operations.map(({ operation }) => operation.operationId);
  }

  /** A request of the operation `id`, or of any operation. */
  next(id?: string): GeneratedRequest {
    const { random } = this;
    const { method, template, operation } = random.pick(
      this.#operations.filter(({ operation }) => id === undefined || operation.operationId === id),
    );
    const { operationId, security, parameters, requestBody } = operation;
    // The part that is odd, if one is: a parameter, a header, or the body.
    const odd = random.below(2) === 0 ? random.below(parameters.length + (requestBody ? 3 : 1)) : -1;
    const headers: Record<string, string> = {};
    const query: string[] = [];
    let path = template;
    this.#ids = template.startsWith("/links") ? this.linkIds : this.keyIds;
    this.#isAboutFolder = template.startsWith("/folders");
    for (const [index, one] of parameters.entries()) {
      const isOdd = index === odd;
      if (one.in === "path") path = path.replace(`{${one.name}}`, this.#inPath(one, isOdd));
      else if (!isOdd && !one.required && random.below(4) > 0) continue;
      else if (one.in === "header") headers[one.name] = this.#inHeader(one, isOdd);
      else query.push(...this.#inQuery(one, isOdd));
    }
    if (odd === parameters.length) query.push(`${random.pick(ODD_ESCAPES)}=${random.pick(ODD_ESCAPES)}`);
    if (operationId === "readFile" && random.below(3) === 0) headers["accept"] = "application/octet-stream";
    const isHead = method === "GET" && random.below(20) === 0;
    const body = requestBody && this.#body(requestBody.content, query, headers, odd > parameters.length);
    return {
      operationId,
      method: isHead ? "HEAD" : method,
      path: path + (query.length > 0 ? `?${query.join("&")}` : ""),
      headers,
      body,
      credentials: security.flatMap((one) => Object.keys(one)),
    };
  }

  /** Values that a request needs to have an effect. */
  #meant(name: string): string | undefined {
    const { random } = this;
    switch (name) {
      case "path":
        return random.pick(this.#isAboutFolder ? PLAIN_FOLDERS : FILES);
      case "destination":
        return this.#isAboutFolder ? `copied/${random.below(1000)}` : random.pick(FILES);
      case "after":
        return random.pick(FILES);
      case "runId":
      case "run":
      case "X-Run-Id":
        return random.pick(RUNS);
      case "directory":
      case "pathPrefix":
        return random.pick(FOLDERS);
      case "content":
      case "newString":
      case "q":
        return random.pick(TEXTS);
      case "oldString":
        return random.pick(["one", "one", "one", "two", "x\n"]);
      case "glob":
        return random.pick(["*.txt", "dir/**", "[a-c]*", "{a,b}.*"]);
      case "lines":
        return random.pick(["1-2", "-1", "2-", "1-1"]);
      case "id":
        return this.#ids.length > 0 ? random.pick(this.#ids) : undefined;
      case "token":
        return this.tokens.length > 0 ? random.pick(this.tokens) : undefined;
      case "versions":
        // These versions are soon superseded.
        return random.pick(["1", "2"]);
      case "name":
        return `name ${random.below(1000)}`;
      case "If-Match":
      case "If-None-Match":
        return random.pick(["*", '"0190a1b2-7c3d-4e5f-8a9b-0c1d2e3f4a5b.1.j"']);
      case "Idempotency-Key":
        return `key ${random.below(40)}`;
      case "Range":
        return random.pick(["bytes=0-1", "bytes=-1", "bytes=1-"]);
      default:
        return undefined;
    }
  }

  #inPath({ name, schema }: Parameter, isOdd: boolean): string {
    const { random } = this;
    if (isOdd) return random.below(2) === 0 ? random.pick(ODD_ESCAPES) : escaped(random.pick(ODD_TEXTS));
    const text = String(this.#values.of(schema, name));
    return random.below(2) === 0 ? escaped(text) : text.split("/").map(escaped).join("/");
  }

  #inQuery({ name, schema, allowEmptyValue }: Parameter, isOdd: boolean): string[] {
    const { random } = this;
    if (!isOdd) {
      const value = String(this.#values.of(schema, name));
      return [allowEmptyValue && value === "" && random.below(2) === 0 ? name : `${name}=${escaped(value)}`];
    }
    const one = `${name}=${
      random.below(2) === 0 ? random.pick(ODD_ESCAPES) : escaped(random.pick(ODD_TEXTS))
    }`;
    return random.below(10) === 0 ? [one, one] : [one];
  }

  #inHeader({ name, schema }: Parameter, isOdd: boolean): string {
    if (isOdd) return this.random.pick(ODD_HEADERS);
    // A client cannot send other characters in a header.
    return String(this.#values.of(schema, name)).replaceAll(/[^\x20-\x7e]/g, "_").trim();
  }

  #body(
    content: Readonly<Record<string, { schema: unknown }>>,
    query: readonly string[],
    headers: Record<string, string>,
    isOdd: boolean,
  ): Uint8Array<ArrayBuffer> {
    const { random } = this;
    const isRaw = "application/octet-stream" in content && (query.length > 0 || random.below(6) === 0);
    headers["content-type"] = isRaw ? "application/octet-stream" : "application/json";
    if (isRaw) return Uint8Array.from({ length: random.below(40) }, () => random.below(256));
    const value = this.#values.of(content["application/json"]?.schema, "");
    if (!isOdd) return bytesOf(JSON.stringify(value));
    switch (random.below(4)) {
      case 0:
        return bytesOf(random.pick(BROKEN_BODIES)(JSON.stringify(value)));
      case 1:
        headers["content-type"] = random.pick(ODD_CONTENT_TYPES);
        if (random.below(4) === 0) headers["content-encoding"] = "gzip";
        return bytesOf(JSON.stringify(value));
      default:
        return bytesOf(oddJson(this.#withOddField(value)));
    }
  }

  /** The value with one field, at any depth, changed, removed or added. */
  #withOddField(value: unknown): unknown {
    const { random } = this;
    if (Array.isArray(value) && value.length > 0 && random.below(3) > 0) {
      const at = random.below(value.length);
      return value.map((one, index) => index === at ? this.#withOddField(one) : one);
    }
    if (typeof value !== "object" || value === null) return random.pick(ODD_JSON);
    const names = [...Object.keys(value), "unknown"];
    const name = random.pick(names);
    const inner: unknown = Reflect.get(value, name);
    const others = Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
    if (random.below(4) === 0) return others;
    const isDeep = typeof inner === "object" && inner !== null && random.below(2) === 0;
    return { ...others, [name]: isDeep ? this.#withOddField(inner) : random.pick(ODD_JSON) };
  }
}

/** Percent-encoded; a lone surrogate becomes bytes that strict decoders refuse. */
function escaped(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : encodeURIComponent(text.toWellFormed()).replaceAll(
    encodeURIComponent("\ufffd"),
    "%ed%a0%80",
  );
}

function bytesOf(body: string | Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}
