/**
 * A misspelt precondition or limit would be ignored silently, so each route refuses unknown fields and query parameters
 * by name.
 */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { UNKNOWN_NAMES_ITEMS_MAX, UNKNOWN_NAMES_REPORTED_MAX } from "../../supabase/functions/api/limits.ts";
import { allRoutes } from "../../supabase/functions/api/routes/mod.ts";
import { isStrict, type Route } from "../../supabase/functions/api/route.ts";
import { owner } from "../support/client/accounts.ts";
import type { RequestOptions } from "../support/client/api.ts";
import { type Answer, assertRefused, issuePaths, issuesOf } from "../support/client/contract.ts";
import { administrator } from "../support/client/erasure.ts";
import { App } from "../support/client/oauth.ts";
import { suite } from "../support/stack/suite.ts";

const ROUTES = await allRoutes();

const { service, files, test } = await suite();

const account = await owner(service);
const { key: admin } = await account.createKey({ scopes: ["read", "write", "admin"] });
const { access_token } = await (await App.register(service)).connect(account);
const app = { authorization: `Bearer ${access_token}` };

/** Routes that accept any parameter, by pattern, and bodies with their own parsers. */
const OPEN_ROUTES = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
  "/connect/oauth-protected-resource",
  "/health",
  "/l/:token",
  "/l/:token",
  "/llms.txt",
  ..."authorize jwks register revoke token".split(" ").map((name) => `/oauth/${name}`),
  "/openapi.json",
];
const OPEN_BODIES = ["/connect", "/mcp", "/memory"];

/** The part of a JSON Schema that marks a list. */
const list = z.looseObject({
  items: z.looseObject({ type: z.string().optional() }).optional().catch(undefined),
  maxItems: z.number().optional().catch(undefined),
});

const TYPO = "nonsense";
const nameOf = ({ method, pattern }: Route) => `${method} ${pattern}`;
/** The name with one letter too many. */
const misspelt = (name: string) => `${name.slice(0, 2)}${name.slice(1)}`;

/** Sends a request to the route, with credentials that it accepts. */
async function ask(route: Route, query: string, options: RequestOptions = {}): Promise<Answer> {
  const path = route.pattern.replace("/*", "/f.txt").replace(":runId", "run-1")
    .replace(/:\w+/, crypto.randomUUID()) + query;
  if (route.credentials === "account") return await account.request(route.method, path, options);
  if (route.credentials === "app") {
    return await service.request(null, route.method, path, { ...options, headers: app });
  }
  if (route.credentials !== "secret key") return await service.request(admin, route.method, path, options);
  const headers = { authorization: `Bearer ${service.stack.secretKey}` };
  return await service.request(null, route.method, path, { ...options, headers });
}

/** Asserts that the request is refused for an unknown name. Returns the reasons by path. */
function reasonsOf(answer: Answer, name: string): Map<string, string> {
  const issues = issuesOf(assertRefused(answer, "VALIDATION_ERROR"));
  assertEquals(issues[0]?.path, name, answer.text);
  return new Map(issues.map(({ path, reason }) => [path, reason]));
}

/** The object schemas that a body of the route may match. */
function shapesOf(schema: unknown): Readonly<Record<string, unknown>>[] {
  if (schema instanceof z.ZodObject) return [schema.shape];
  return schema instanceof z.ZodUnion ? schema.options.flatMap(shapesOf) : [];
}

test("the routes and bodies that take what they do not know are these alone", async () => {
  const open = ROUTES.filter((route) => !isStrict(route)).map(({ pattern }) => pattern);
  assertEquals(open.toSorted(), OPEN_ROUTES);
  assertEquals((await service.request(null, "GET", `/health?${TYPO}`)).status, 200);
  for (const path of ["/openapi.json", "/llms.txt"]) {
    assertEquals((await service.request(null, "GET", `${path}?${TYPO}`)).status, 200);
  }
  assertEquals((await service.request(null, "GET", `/l/none?${TYPO}`)).status, 404);
  const own = await files();
  const input = { command: "create", path: "/memories/a", file_text: "a", [TYPO]: 1 };
  assertEquals((await own.request("POST", "/memory", { body: input })).status, 200);
  assertEquals((await own.read("memories/a")).content, "a");
});

test("no list of objects in a body may be longer than what is looked at", () => {
  const lists: number[] = [];
  const look = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { items, maxItems = Infinity } = list.catch({}).parse(schema);
    if (items && (items.type ?? "object") === "object") lists.push(maxItems);
    Object.values(schema).forEach(look);
  };
  for (const { openapi: { body } } of ROUTES) {
    if (body) look(z.toJSONSchema(body, { io: "input", unrepresentable: "any" }));
  }
  assert(lists.length > 0);
  assertEquals(lists.filter((length) => length > UNKNOWN_NAMES_ITEMS_MAX), []);
});

test("400 VALIDATION_ERROR: each route refuses a query parameter that it does not know, and changes nothing", async () => {
  const before = await service.tables();
  for (const route of ROUTES.filter(isStrict)) {
    const unknown = reasonsOf(await ask(route, `?${TYPO}=1`), TYPO).get(TYPO);
    assert(unknown?.startsWith("is not a known query parameter; "), `${nameOf(route)}: ${unknown}`);
    const known = Object.keys(shapesOf(route.openapi.query)[0] ?? {}).filter((name) => name.length > 2);
    for (const name of known) {
      const reason = reasonsOf(await ask(route, `?${misspelt(name)}=1`), misspelt(name)).get(misspelt(name));
      assertEquals(reason, `is not a known query parameter; did you mean ${name}?`, nameOf(route));
    }
  }
  assertEquals(await service.tables(), before);
});

test("400 VALIDATION_ERROR: each route refuses a field that it does not know, and changes nothing", async () => {
  const before = await service.tables();
  for (const route of ROUTES.filter(isStrict)) {
    const { body } = route.openapi;
    if (!body || OPEN_BODIES.includes(route.pattern)) continue;
    const refusal = async (name: string) =>
      reasonsOf(await ask(route, "", { body: { [name]: 1 } }), name).get(name);
    const unknown = await refusal(TYPO);
    assert(unknown?.startsWith("is not a known field; known are "), `${nameOf(route)}: ${unknown}`);
    const names = shapesOf(body).flatMap((shape) => Object.keys(shape));
    for (const name of names.filter((name) => name.length > 2)) {
      const expected = `is not a known field; did you mean ${name}?`;
      assertEquals(await refusal(misspelt(name)), expected, nameOf(route));
    }
  }
  assertEquals(await service.tables(), before);
});

const EDIT = { oldString: "x", newString: "y" };

/** A wrong request, the place that its refusal names, and the name that was meant. */
const MEANT: readonly (readonly [string, string, unknown, string, string])[] = [
  ["POST", "/files", { path: "f", content: "x", encoding: "base64" }, "encoding", "isBase64"],
  ["POST", "/files", { path: "f", content: "x", ifVersoin: 7 }, "ifVersoin", "ifVersion"],
  ["POST", "/files", { path: "f", content: "x", mimeType: "text/csv" }, "mimeType", "contentType"],
  ["POST", "/files?path=f&if_version=7", "x", "if_version", "ifVersion"],
  ["PUT", "/files/append/f?ifVersoin=7", "x", "ifVersoin", "ifVersion"],
  ["PUT", "/files/edit/f", { old_string: "x", newString: "y" }, "old_string", "oldString"],
  ["PUT", "/files/edit/f", { edits: [{ ...EDIT, replaceal: true }] }, "edits.0.replaceal", "replaceAll"],
  ["DELETE", "/files/f?expectedVersion=7", undefined, "expectedVersion", "ifVersion"],
  ["POST", "/runs/r/undo", { dry_run: true }, "dry_run", "dryRun"],
  ["POST", "/links", { path: "f", for: "read", ttl: 60 }, "ttl", "expiresIn"],
  ["GET", "/files?prefix=docs", undefined, "prefix", "directory"],
  ["GET", "/search?query=x", undefined, "query", "q"],
  ["PATCH", "/project", { retention: { keepDay: 3, keepVersions: 1 } }, "retention.keepDay", "keepDays"],
  ["PATCH", "/project", { retention: { days: 3 } }, "retention.days", "keepDays"],
  ["POST", "/project/apikeys", { scopes: ["read"], prefix: "docs" }, "prefix", "pathPrefix"],
  ["POST", "/project/apikeys", { scopes: ["read"], expires: "2040-01-01" }, "expires", "expiresAt"],
];

test("400 VALIDATION_ERROR names the known field that was probably meant, and nothing is changed", async () => {
  const own = await files();
  const { key } = await administrator(service, own.project.id);
  await own.write("f", "x");
  const before = await service.tables();
  for (const [method, path, body, at, meant] of MEANT) {
    const headers = typeof body === "string" ? { "content-type": "application/octet-stream" } : {};
    const answer = await service.request(key, method, path, { body, headers });
    const reason = reasonsOf(answer, at).get(at);
    assert(reason?.endsWith(`did you mean ${meant}?`), `${path}: ${reason}`);
  }
  assertEquals(await service.tables(), before);
});

test("400 VALIDATION_ERROR: an operation of a batch has the fields of its kind alone, and nothing is done", async () => {
  const own = await files();
  await own.write("f", "x");
  const before = await service.tables();
  const good = { op: "write", path: "g", content: "x" };
  const cases = [
    [{ op: "delete", path: "f", ifVersoin: 7 }, "operations.1.ifVersoin"],
    [{ op: "delete", path: "f", content: "x" }, "operations.1.content"],
    [{ op: "append", path: "f", content: "x", contentType: "text/csv" }, "operations.1.contentType"],
    [{ op: "move", path: "f", destination: "h", dryRun: true }, "operations.1.dryRun"],
    [{ op: "edit", path: "f", ...EDIT, all: true }, "operations.1.all"],
    [{ op: "edit", path: "f", edits: [{ ...EDIT, count: 2 }] }, "operations.1.edits.0.count"],
  ] as const;
  for (const [operation, at] of cases) {
    reasonsOf(await own.request("POST", "/batch", { body: { operations: [good, operation] } }), at);
  }
  assertEquals(await service.tables(), before);
});

test("400 VALIDATION_ERROR: with `edits`, nothing of a single edit is ignored", async (own) => {
  await own.write("f", "x");
  const edits = [EDIT];
  const single = { oldString: "x", newString: "x", replaceAll: true, expectedOccurrences: 2 };
  for (const [name, value] of Object.entries(single)) {
    const answer = await own.put("edit", "f", { edits, [name]: value });
    assertEquals(issuePaths(assertRefused(answer, "VALIDATION_ERROR")), [name]);
  }
  assertEquals((await own.put("edit", "f", { edits, replaceAll: null })).status, 200);
  assertEquals((await own.put("edit", "f", { edits: null, oldString: "y", newString: "z" })).status, 200);
});

test("400 VALIDATION_ERROR: a field of the body that comes as a query parameter is sent to where it belongs", async () => {
  const own = await files();
  await own.write("f", "x");
  const copied = await own.request("PUT", "/files/copy/f?ifVersion=7", { body: { destination: "g" } });
  const reason = reasonsOf(copied, "ifVersion").get("ifVersion");
  assertEquals(reason, "is a field of the JSON body, not a query parameter");
});

test("unknown names are cut and counted, whatever they hold; the ones first in the body are named", async () => {
  const own = await files();
  const names = ["x".repeat(10_000), "__proto__", "a\u0000b", "constructor"];
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`n${index}`, index]));
  const body = `{${names.map((name) => `${JSON.stringify(name)}:1`).join()},${JSON.stringify(many).slice(1)}`;
  const issues = issuesOf(assertRefused(await own.request("POST", "/links", { body }), "VALIDATION_ERROR"));
  assertEquals(issues.slice(0, 4).map(({ path }) => path), [`${"x".repeat(100)}…`, ...names.slice(1)]);
  const unknown = issues.filter(({ reason }) => reason.startsWith("is not a known"));
  assertEquals(unknown.length, UNKNOWN_NAMES_REPORTED_MAX);
});

test("a list where an object belongs, or the other way round, is that fault, and no unknown name", async () => {
  const own = await files();
  const operation = { op: "edit", path: "f", edits: { oldString: "x", nonsense: 1 } };
  const cases = [
    ["/files", [1], ""],
    ["/batch", { operations: [[1]] }, "operations.0"],
    ["/batch", { operations: { a: { nonsense: 1 } } }, "operations"],
    ["/batch", { operations: [operation] }, "operations.0.edits"],
  ] as const;
  for (const [path, body, at] of cases) {
    const answer = await own.request("POST", path, { body: JSON.stringify(body) });
    const [issue] = issuesOf(assertRefused(answer, "VALIDATION_ERROR"));
    assert(issue?.path.startsWith(at) && !issue.reason.includes("known"), answer.text);
  }
});

test("the key comes before an unknown name, and the path before it", async (own) => {
  assertRefused(await service.request(null, "GET", `/files?${TYPO}`), "INVALID_API_KEY");
  assertRefused(await own.request("GET", `/files/a%00b?${TYPO}`), "INVALID_PATH");
  const sent = { body: { [TYPO]: 1 }, headers: { "content-type": "application/xml" } };
  assertRefused(await own.request("POST", "/files", sent), "UNSUPPORTED_MEDIA_TYPE");
});
