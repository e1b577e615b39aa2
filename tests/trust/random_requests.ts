/**
 * Random requests from /openapi.json: each operation with parameters and bodies that its schemas allow, and in every
 * second request one part that they forbid. The same seed gives the same requests.
 */
import fc from "fast-check";
import { z } from "zod";
import { REDIRECT_URI } from "../support/client/oauth.ts";

const parameter = z.looseObject({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean(),
  schema: z.unknown(),
});
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
type Operation = z.infer<typeof operation>;
const shape = z.looseObject({
  $ref: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
  minimum: z.number().default(0),
  maximum: z.number().default(2 ** 31 - 1),
  minLength: z.number().default(0),
  maxLength: z.number().default(Infinity),
  minItems: z.number().default(0),
});

export interface RandomRequest {
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
const RUNS = fc.constantFrom("run-1", "run-2", "run-3");
const FOLDERS = fc.constantFrom("/", "dir", "/dir/deep/", "none");
const TEXTS = fc.constantFrom("one", "one two", "two\n", "one\none\n", "", "x\ny\nz\n");
const TAGS = fc.constantFrom("*", '"0190a1b2-7c3d-4e5f-8a9b-0c1d2e3f4a5b.1.j"');
const numbered = (name: string, count: number) => fc.nat(count - 1).map((number) => name + number);

/** Values that a request needs to have an effect, where the schema allows any text. */
const MEANT: Readonly<Record<string, fc.Arbitrary<string>>> = {
  ...Object.fromEntries(["path", "destination", "after"].map((name) => [name, fc.constantFrom(...FILES)])),
  ...Object.fromEntries(["runId", "run", "X-Run-Id"].map((name) => [name, RUNS])),
  ...Object.fromEntries(["directory", "pathPrefix"].map((name) => [name, FOLDERS])),
  ...Object.fromEntries(["content", "newString", "q"].map((name) => [name, TEXTS])),
  oldString: fc.constantFrom("one", "one", "one", "two", "x\n"),
  glob: fc.constantFrom("*.txt", "dir/**", "[a-c]*", "{a,b}.*"),
  lines: fc.constantFrom("1-2", "-1", "2-", "1-1"),
  // These versions are soon superseded.
  versions: fc.constantFrom("1", "2"),
  // Seconds.
  wait: fc.constantFrom("0", "1"),
  name: numbered("name ", 1000),
  email: fc.nat(1000).map((number) => `${number}@example.org`),
  "If-Match": TAGS,
  "If-None-Match": TAGS,
  "Idempotency-Key": numbered("key ", 40),
  Range: fc.constantFrom("bytes=0-1", "bytes=-1", "bytes=1-"),
  redirect_uri: fc.constant(REDIRECT_URI),
  redirect_uris: fc.constant(REDIRECT_URI),
  code_challenge: fc.constant("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
  scope: fc.constantFrom("files:read", "files:write files:read"),
  // Replaced by one that exists when the request is taken.
  client_id: numbered("@client@", 1000),
  id: numbered("@id@", 1000),
  token: numbered("@token@", 1000),
};
const MEANT_FOR_FOLDERS = {
  ...MEANT,
  path: fc.constantFrom("dir", "dir/deep"),
  destination: numbered("copied/", 1000),
};

const MEANT_FOR_NEW_BRANCHES = { ...MEANT, name: numbered("new-", 1_000_000) };
const MEANT_FOR_BRANCHES = { ...MEANT, name: numbered("@branch@", 1000) };

function meantFor(template: string): typeof MEANT {
  if (template.startsWith("/folders")) return MEANT_FOR_FOLDERS;
  if (template === "/branches") return MEANT_FOR_NEW_BRANCHES;
  return template.startsWith("/branches/") ? MEANT_FOR_BRANCHES : MEANT;
}

/** Values at the bounds of what a schema expects, or invalid everywhere. */
const oddText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom(
    // A lone surrogate cannot be written as UTF-8, so these are escapes in JSON and broken escapes in a URL.
    ..."\0 a\0b \ud800 a\udc00\ud800 \ufffe \ufeff e\u0301 \u202e \x7f\x85 \r\n".split(" "),
    ...["", " ", "'; select 1; --", "x".repeat(5000), "日".repeat(600), "a/".repeat(40) + "b"],
    ..."/ //a a/ ../.. a/./b \\ % %00 * {a [z-a] ( $1 null true 1 -1 0 1.5 1e400 NaN".split(" "),
    ..."9007199254740993 99999999999999999999 9999-99-99 +275760-09-13T00:00:00Z".split(" "),
  ),
);
/** For a URL: escapes that are broken, overlong, of surrogates, or beyond Unicode. */
const oddEscape = fc.constantFrom(
  ..."% %0 %zz %00 a%00 %ff %c0%80 %ed%a0%80 %f4%90%80%80 + %2B %2F %2e%2e%2f %25 = []".split(" "),
);
const oddHeader = fc.constantFrom(
  ...["", '"a", "b"', "\x80\xff", "x".repeat(300)],
  ...`* " "" , W/"x" x true -1 bytes=0-0 bytes=-0 bytes=99999999999999999999- bytes=5-1 items=1-2`.split(" "),
);
/** Numbers that `JSON.stringify` cannot write, and what stands for them. */
const ODD_NUMBERS = { "@huge@": "1e400", "@tiny@": "1e-400", "@long@": "1".repeat(400) };
const oddJson = fc.oneof(
  oddText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(...Object.keys(ODD_NUMBERS), 2 ** 31, 2 ** 53, { constructor: 1, toString: null }),
);
const oddType = fc.constantFrom(
  ..."text/plain application/octet-stream image/png multipart/form-data;boundary=x nonsense".split(" "),
  ..."application/json;charset=utf-16 application/x-www-form-urlencoded application/vnd.x+json".split(" "),
  "",
);
const broken = fc.constantFrom<(text: string) => string | Uint8Array>(
  ...["", "null", "[]", '"text"', "[".repeat(5000)].map((body) => () => body),
  (text) => text.slice(0, Math.floor(text.length / 2)),
  (text) => `${text}}`,
  (text) => `\ufeff${text}`,
  (text) => text.replaceAll('"', "'"),
  (text) => `${text.slice(0, -1)},}`,
  () => `{"a":${"[".repeat(40)}${"]".repeat(40)}}`,
  (text) => new Uint8Array([...new TextEncoder().encode(text.slice(0, -2)), 0xff, 0x22, 0x7d]),
  () => new Uint8Array(64),
);
const ABSENT = fc.constant(undefined);
const oneIn = (count: number) => fc.nat(count - 1).map((number) => number === 0);

export class RandomRequests {
  readonly #arbitraries = new Map<string, fc.Arbitrary<RandomRequest>>();
  readonly #components: Readonly<Record<string, unknown>>;
  /** Ids of keys, links and webhooks, and tokens of links, for the routes that name one. */
  readonly keyIds: string[] = [];
  readonly linkIds: string[] = [];
  readonly webhookIds: string[] = [];
  readonly tokens: string[] = [];
  /** The id of an app that has registered. */
  clientId = "";
  /** The name of a branch. */
  branch = "";
  #taken = 0;

  constructor(document: unknown, private readonly seed: number) {
    const { paths, components } = openapi.parse(document);
    this.#components = components.schemas;
    for (const [template, item] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(item)) {
        this.#arbitraries.set(
          operation.operationId,
          this.#requests(method.toUpperCase(), template, operation),
        );
      }
    }
  }

  get operationIds(): string[] {
    return [...this.#arbitraries.keys()];
  }

  /** A request of the operation `id`, or of any operation. */
  next(id?: string): RandomRequest {
    const one = id === undefined ? undefined : this.#arbitraries.get(id);
    const arbitrary = one ?? fc.oneof(...this.#arbitraries.values());
    const [request] = fc.sample(arbitrary, { numRuns: 1, seed: this.seed + this.#taken++ });
    if (!request) throw new Error("no request");
    const ids = request.path.startsWith("/links")
      ? this.linkIds
      : request.path.startsWith("/project/webhooks")
      ? this.webhookIds
      : this.keyIds;
    const path = request.path.replaceAll(/%40(id|token)%40(\d+)/g, (_, kind, number) => {
      const known = kind === "id" ? ids : this.tokens;
      return known[number % known.length] ?? "0190a1b2-7c3d-4e5f-8a9b-0c1d2e3f4a5b";
    });
    const withNames = (text: string) =>
      text.replaceAll(/%40client%40\d+/g, encodeURIComponent(this.clientId))
        .replaceAll(/%40branch%40\d+/g, this.branch);
    const text = new TextDecoder().decode(request.body);
    const body = text.includes("%40client%40") ? new TextEncoder().encode(withNames(text)) : request.body;
    return { ...request, path: withNames(path), body };
  }

  #requests(method: string, template: string, operation: Operation): fc.Arbitrary<RandomRequest> {
    const { operationId, security, parameters, requestBody } = operation;
    const meant = meantFor(template);
    const [ofBody, ofQuery] = [parameters.length + 1, parameters.length];
    return fc.record({
      // The part that is odd, if one is: a parameter, the query, or the body.
      odd: fc.oneof(fc.constant(-1), fc.nat(requestBody ? ofBody : ofQuery)),
      values: fc.tuple(...parameters.map(({ schema, name }) => this.#values(schema, name, meant))),
      isGiven: fc.tuple(...parameters.map(() => oneIn(4))),
      isWhole: fc.boolean(),
      oddPart: fc.oneof(oddEscape, oddText.map(escaped)),
      oddHeader,
      oddEscape,
      wantsBytes: oneIn(3),
      isHead: oneIn(20),
      isTwice: oneIn(10),
      isRaw: oneIn(6),
      content: this.#content(contentOf(requestBody)?.schema, meant, contentOf(requestBody)?.type === FORM),
    }).map((chosen) => {
      const headers: Record<string, string> = {};
      const query: string[] = [];
      let path = template;
      for (const [index, { name, required, ...one }] of parameters.entries()) {
        const isOdd = index === chosen.odd;
        const value = String(chosen.values[index]);
        const part = isOdd ? chosen.oddPart : escaped(value);
        if (one.in === "path") {
          const whole = chosen.isWhole || isOdd ? part : value.split("/").map(escaped).join("/");
          path = path.replace(`{${name}}`, () => whole);
        } else if (!isOdd && !required && !chosen.isGiven[index]) continue;
        else if (one.in === "query") {
          // A parameter without a value may be sent without `=`.
          const pair = part === "" && chosen.isWhole ? name : `${name}=${part}`;
          query.push(pair, ...isOdd && chosen.isTwice ? [pair] : []);
        } else {
          // A client cannot send other characters in a header.
          headers[name] = isOdd ? chosen.oddHeader : value.replaceAll(/[^\x20-\x7e]/g, "_").trim();
        }
      }
      if (chosen.odd === ofQuery) query.push(`${chosen.oddEscape}=${chosen.oddEscape}`);
      if (operationId === "readFile" && chosen.wantsBytes) headers["accept"] = "application/octet-stream";
      const isRaw = requestBody && "application/octet-stream" in requestBody.content &&
        (query.length > 0 || chosen.isRaw);
      if (requestBody) {
        headers["content-type"] = isRaw
          ? "application/octet-stream"
          : contentOf(requestBody)?.type ?? "application/json";
      }
      const { plain, odd, bytes } = chosen.content;
      const body = !requestBody ? undefined : isRaw ? bytes : chosen.odd === ofBody ? odd.body : plain;
      if (!isRaw && chosen.odd === ofBody) Object.assign(headers, odd.headers);
      return {
        operationId,
        method: method === "GET" && chosen.isHead ? "HEAD" : method,
        path: path + (query.length > 0 ? `?${query.join("&")}` : ""),
        headers,
        body: typeof body === "string" ? new TextEncoder().encode(body) : body && new Uint8Array(body),
        credentials: security.flatMap((one) => Object.keys(one)),
      };
    });
  }

  #content(schema: unknown, meant: typeof MEANT, isForm: boolean) {
    const value = this.#values(schema, "", meant);
    const written = isForm ? formOf : (value: unknown) => JSON.stringify(value);
    const odd = fc.oneof<fc.Arbitrary<{ body: string | Uint8Array; headers: Record<string, string> }>[]>(
      fc.tuple(value, broken).map(([value, breaking]) => ({
        body: breaking(written(value)),
        headers: {},
      })),
      fc.tuple(value, oddType, oneIn(4)).map(([value, type, isZipped]) => ({
        body: written(value),
        headers: { "content-type": type, ...isZipped && { "content-encoding": "gzip" } },
      })),
      fc.tuple(value, fc.infiniteStream(fc.nat()), oddJson).map(([value, picks, odd]) => {
        let text = written(withOddField(value, () => picks.next().value ?? 0, odd));
        for (const [name, number] of Object.entries(ODD_NUMBERS)) text = text.replaceAll(`"${name}"`, number);
        return { body: text, headers: {} };
      }),
    );
    return fc.record({
      plain: value.map(written),
      odd,
      bytes: fc.uint8Array({ maxLength: 40 }),
    });
  }

  /** Values that the schema allows, often at its bounds; `name` is the field's or parameter's. */
  #values(schema: unknown, name: string, meant: typeof MEANT): fc.Arbitrary<unknown> {
    const given = shape.parse(schema ?? {});
    const { $ref, anyOf, oneOf, items, properties, required, minItems } = given;
    if ($ref !== undefined) return this.#values(this.#components[$ref.split("/").at(-1) ?? ""], name, meant);
    const choices = anyOf ?? oneOf;
    if (choices) return fc.oneof(...choices.map((choice) => this.#values(choice, name, meant)));
    if ("const" in given) return fc.constant(given["const"]);
    if (given.enum) return fc.constantFrom(...given.enum);
    const useful = meant[name];
    const mostly = (usual: fc.Arbitrary<unknown> | undefined, other: fc.Arbitrary<unknown>) =>
      usual ? fc.oneof({ weight: 9, arbitrary: usual }, other) : other;
    switch ([given.type].flat()[0]) {
      case "string":
        return given.format === "date-time"
          ? fc.nat().map((seconds) => new Date(seconds * 1000).toISOString())
          : mostly(useful, given.format === "uuid" ? fc.uuid() : textOf(given));
      case "integer":
      case "number":
        return mostly(["versions", "wait"].includes(name) ? useful?.map(Number) : undefined, numberOf(given));
      case "boolean":
        return fc.boolean();
      case "array":
        return fc.array(this.#values(items, name, meant), { minLength: minItems, maxLength: minItems + 3 });
      case "object": {
        const fields = Object.entries(properties).map(([field, one]) => {
          const values = this.#values(one, field, meant);
          return [
            field,
            required.includes(field) ? values : fc.oneof({ weight: 3, arbitrary: ABSENT }, values),
          ];
        });
        return fc.record(Object.fromEntries(fields));
      }
      default:
        return fc.constant(null);
    }
  }
}

const FORM = "application/x-www-form-urlencoded";

/** What a route reads that takes no bytes: JSON, or a form. */
function contentOf(requestBody: Operation["requestBody"]) {
  const type = ["application/json", FORM].find((type) => requestBody && type in requestBody.content);
  return type === undefined ? undefined : { type, schema: requestBody?.content[type]?.schema };
}

/** The fields as a form, one that is a list as often as it has items; what is no object is one field's name. */
function formOf(value: unknown): string {
  const textOfValue = (one: unknown) => escaped(typeof one === "object" ? JSON.stringify(one) : String(one));
  if (typeof value !== "object" || value === null) return textOfValue(value);
  const pairs = Object.entries(value).filter(([, one]) => one !== undefined).flatMap(([name, one]) =>
    [one].flat().map((item) => `${escaped(name)}=${textOfValue(item)}`)
  );
  return pairs.join("&");
}

function textOf({ minLength, maxLength }: z.infer<typeof shape>): fc.Arbitrary<string> {
  return fc.string({
    unit: fc.constantFrom(..."abcé✓ \n-_.0"),
    minLength,
    maxLength: Math.min(maxLength, 400),
  });
}

function numberOf({ minimum, maximum }: z.infer<typeof shape>): fc.Arbitrary<number> {
  const near = fc.integer({ min: minimum, max: Math.min(maximum, minimum + 50) });
  return fc.oneof(fc.constantFrom(minimum, maximum), near);
}

/** The value with one field, at any depth, changed, removed or added. */
function withOddField(value: unknown, pick: () => number, odd: unknown): unknown {
  if (Array.isArray(value) && value.length > 0) {
    const at = pick() % value.length;
    return value.with(at, withOddField(value[at], pick, odd));
  }
  if (typeof value !== "object" || value === null) return odd;
  const names = [...Object.keys(value), "unknown"];
  const name = names[pick() % names.length] ?? "";
  if (pick() % 4 === 0) return { ...value, [name]: undefined };
  const inner: unknown = Reflect.get(value, name);
  return { ...value, [name]: pick() % 2 === 0 ? odd : withOddField(inner, pick, odd) };
}

/** Percent-encoded; a lone surrogate becomes bytes that strict decoders refuse. */
function escaped(text: string): string {
  if (text.isWellFormed()) return encodeURIComponent(text);
  return encodeURIComponent(text.toWellFormed()).replaceAll(encodeURIComponent("\ufffd"), "%ed%a0%80");
}
