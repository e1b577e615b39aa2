/** The lists of routes: addresses and scopes from the table of routes, fields from the OpenAPI document. */
import { allRoutes } from "../../functions/api/routes/mod.ts";
import { type Route, scopesOf } from "../../functions/api/route.ts";
import { pathOf } from "../../functions/api/openapi/document.ts";
import { scope as scopes } from "../../functions/api/contract/values.ts";
import { describeScope } from "../../functions/api/openapi/document.ts";
import { code, nested, wrap } from "./markdown.ts";
import { API_PAGES, type ApiPage } from "./api_pages.ts";
import { type Fields, type Operation, PATHS } from "./openapi.ts";

const ROUTES = await allRoutes();

/** A header of all routes about files or a project. The text around the lists explains it once. */
const PROJECT_HEADER = "x-project-id";
/** Longer lists of values are left out here; the content types, for example, have a list of their own. */
const VALUES_SHOWN_MAX = 5;

interface Described {
  /** Such as `PUT /files/append/{path}`. */
  readonly address: string;
  readonly route: Route;
  readonly operation: Operation;
}

function describe(route: Route): Described {
  const path = pathOf(route);
  const operation = PATHS[path]?.[route.method.toLowerCase()];
  if (!operation) throw new Error(`the OpenAPI document lacks ${route.method} ${path}`);
  return { address: `${route.method} ${path}`, route, operation };
}

const ALL = ROUTES.map(describe);

/** The routes of a page, in the order in which `API_PAGES` names them. */
function routesOf({ file, routes }: ApiPage): Described[] {
  return routes.map((address) => {
    const found = ALL.find((described) => described.address === address);
    if (!found) throw new Error(`api/${file}.md has ${address}, which is no route`);
    return found;
  });
}

const placed = API_PAGES.flatMap(routesOf);
const homeless = ALL.filter((described) => !placed.includes(described));
if (homeless.length > 0 || placed.length > ALL.length) {
  throw new Error(
    `Each route has one page of the API. Without one: ${homeless.map(({ address }) => address)}`,
  );
}

/** What a caller needs: the scopes of a key, or which credentials. */
function needs({ route }: Described): string {
  if (route.credentials === "none") return " Needs no key.";
  if (route.credentials === "link") return " Needs no key: the address replaces it.";
  if (route.credentials === "secret key") return " Needs the operator's secret key.";
  if (route.credentials === "app") return " Needs the access token of an app.";
  if (route.scopes?.length === 0) return " Needs the scope of the tool or command.";
  const scopes = scopesOf(route);
  if (scopes.length === 0) return ` Needs an ${route.credentials.replace("or key", "or a key")}.`;
  return ` Needs the ${scopes.length > 1 ? "scopes" : "scope"} ${scopes.map(code).join(" and ")}.`;
}

/** The pages with their routes, one line each: the most important pages, or the others. */
export function routesIndex(isFirst: boolean): string {
  return API_PAGES.filter((page) => page.isFirst === isFirst).map((page) => {
    const lines = routesOf(page).map(({ address, operation }) =>
      nested(`${code(address)}: ${operation.summary}`)
    );
    return [`- **[${page.title}](${page.file}.md)**`, ...lines].join("\n");
  }).join("\n");
}

/** An optional field has a question mark; a short list of fixed values follows its field. */
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
  ].filter(([, names]) => names !== "").map(([place, names]) => `${place}: ${names}`);
}

/** One list item per route: its effect and requirements; below it query, body and headers. */
export function routesOfPage(page: ApiPage): string {
  return routesOf(page).map((described) =>
    [
      wrap(`- **${code(described.address)}**: ${described.operation.summary}.${needs(described)}`),
      ...fieldsOf(described).map(nested),
    ].join("\n")
  ).join("\n");
}

/** One list item per operation of a batch, with its fields. */
export function batchOperations(): string {
  const { operations } =
    PATHS["/batch"]?.["post"]?.requestBody?.content["application/json"]?.schema.properties ??
      {};
  return (operations?.items?.oneOf ?? []).map(({ properties = {}, required = [] }) => {
    const { op, ...others } = properties;
    return wrap(`- ${code(`${op?.const}`)}: ${bodyFields({ properties: others, required })}`);
  }).join("\n");
}

/** The rights of each scope, and their routes. */
export function scopesList(): string {
  return scopes.options.map((scope) => {
    const opened = ALL.filter(({ route }) => route.allows?.[scope] ?? scopesOf(route).includes(scope));
    const addresses = opened.map(({ address }) => code(address)).join(", ");
    return wrap(`- ${code(scope)}: ${describeScope(scope, ROUTES)}. Routes: ${addresses}`);
  }).join("\n");
}

/** The rights of each scope as a file of code, because the console is built without the function's code. */
export function scopesOfConsole(): string {
  const lines = scopes.options.map((scope) =>
    `  ${scope}:\n    ${JSON.stringify(describeScope(scope, ROUTES))},`
  );
  return [
    "/** What each scope lets a key do. Written by `deno task docs` from the table of routes. */",
    "export const SCOPE_MEANINGS = {",
    ...lines,
    "} as const;\n",
  ].join("\n");
}

/** The rights of each scope as a file of code for the help of the command line. */
export function scopesOfHelp(): string {
  const lines = scopes.options.flatMap((scope) =>
    wrap(`${scope}: ${describeScope(scope, ROUTES)}`, "  ", 83).split("\n")
  );
  return [
    "/** What each scope lets a key do. Written by `deno task docs` from the table of routes. */",
    `export const SCOPES_HELP = \`\\\n${lines.map((line) => " ".repeat(31) + line).join("\n")}\`;\n`,
  ].join("\n");
}
