/** The tables of routes: addresses and scopes from the table of routes, fields from the OpenAPI document. */
import { ROUTES } from "../../functions/api/routes/mod.ts";
import { type Route, scopesOf } from "../../functions/api/route.ts";
import { pathOf } from "../../functions/api/openapi/document.ts";
import { describeScope, SCOPES } from "../../functions/api/openapi/scopes.ts";
import { code, table, wrap } from "./markdown.ts";
import { type Fields, type Operation, PATHS } from "./openapi.ts";

/** Of all routes about files or a project; the text around the lists explains it once. */
const PROJECT_HEADER = "x-project-id";
/** The content types, for one, have a list of their own. */
const VALUES_SHOWN_MAX = 5;

export type Group = "files" | "accounts" | "service";

interface Described {
  /** Such as `PUT /files/append/{path}`. */
  readonly address: string;
  readonly route: Route;
  readonly operation: Operation;
}

function groupOf({ pattern }: Route): Group {
  if (/^\/(project|account)/.test(pattern)) return "accounts";
  return /^\/(health|mcp|sweep|openapi\.json|llms\.txt)$/.test(pattern) ? "service" : "files";
}

function describe(route: Route): Described {
  const path = pathOf(route);
  const operation = PATHS[path]?.[route.method.toLowerCase()];
  if (!operation) throw new Error(`the OpenAPI document lacks ${route.method} ${path}`);
  return { address: `${route.method} ${path}`, route, operation };
}

const routesOf = (group: Group): Described[] =>
  ROUTES.filter((route) => groupOf(route) === group).map(describe);

/** What a caller needs: the scopes of a key, or which credentials. */
function credentials({ route }: Described): string {
  if (route.credentials === "none" || route.credentials === "link") return "";
  if (route.scopes?.length === 0) return "by command";
  return scopesOf(route).map(code).join(", ") || route.credentials;
}

export function routesTable(group: Group): string {
  const routes = routesOf(group);
  const isNeeded = routes.some((described) => credentials(described) !== "");
  return table(
    ["route", "does", ...(isNeeded ? [group === "files" ? "scope" : "needs"] : [])],
    routes.map((described) => [
      code(described.address),
      described.operation.summary,
      ...(isNeeded ? [credentials(described)] : []),
    ]),
  );
}

/** An optional field has a question mark; a few fixed values stand behind their field. */
function field(name: string, isRequired: boolean, values: readonly string[] = []): string {
  const shown = values.length > 0 && values.length <= VALUES_SHOWN_MAX
    ? ` (${values.map(code).join(", ")})`
    : "";
  return code(name) + (isRequired ? "" : "?") + shown;
}

function bodyFields({ properties = {}, required = [] }: Fields): string {
  // A field that may only be null belongs to another form of the body.
  return Object.entries(properties).filter(([, property]) => property.type !== "null")
    .map(([name, property]) => field(name, required.includes(name), property.enum)).join(", ");
}

function fieldsOf({ operation }: Described): string[] {
  const parameters = (place: "query" | "header") =>
    operation.parameters.filter((parameter) => parameter.in === place && parameter.name !== PROJECT_HEADER)
      .map(({ name, required, schema }) => field(name, required, schema.enum)).join(", ");
  const content = operation.requestBody?.content;
  const schema = content?.["application/json"]?.schema ?? {};
  const forms = (schema.anyOf ?? schema.oneOf ?? [schema]).map(bodyFields).filter((form) => form !== "");
  if (content && "application/octet-stream" in content) forms.push("the bytes themselves");
  return [
    ["query", parameters("query")] as const,
    ["body", forms.join("; or ")] as const,
    ["headers", parameters("header")] as const,
  ].filter(([, names]) => names !== "").map(([place, names]) => `${place} ${names}`);
}

/** One list item a route: query, body and headers. */
export function routeFields(group: Group): string {
  return routesOf(group).map((described) => [described.address, fieldsOf(described)] as const)
    .filter(([, fields]) => fields.length > 0)
    .map(([address, fields]) => wrap(`- ${code(address)}: ${fields.join("; ")}`)).join("\n");
}

/** What each scope lets a key do, and by which routes. */
export function scopesList(): string {
  const routes = ROUTES.map(describe);
  return SCOPES.map((scope) => {
    const opened = routes.filter(({ route }) => route.allows?.[scope] ?? scopesOf(route).includes(scope));
    const addresses = opened.map(({ address }) => code(address)).join(", ");
    return wrap(`- ${code(scope)}: ${describeScope(scope, ROUTES)}. By ${addresses}`);
  }).join("\n");
}

/** The same as a file of code, for the console, which is built without the function's. */
export function scopesOfConsole(): string {
  const lines = SCOPES.map((scope) => `  ${scope}:\n    ${JSON.stringify(describeScope(scope, ROUTES))},`);
  return [
    "/** What each scope lets a key do. Written by `deno task docs` from the table of routes. */",
    "export const SCOPE_MEANINGS = {",
    ...lines,
    "} as const;\n",
  ].join("\n");
}

/** … and for the help of the command line. */
export function scopesOfHelp(): string {
  const lines = SCOPES.flatMap((scope) =>
    wrap(`${scope}: ${describeScope(scope, ROUTES)}`, "  ", 83).split("\n")
  );
  return [
    "/** What each scope lets a key do. Written by `deno task docs` from the table of routes. */",
    `export const SCOPES_HELP = \`\\\n${lines.map((line) => " ".repeat(31) + line).join("\n")}\`;\n`,
  ].join("\n");
}
