/** `/llms.txt`: the service in one short Markdown page for language models, in the format of https://llmstxt.org. */
import { scopesOf } from "../route.ts";
import type { Route } from "../route.ts";
import { pathOf, tagOf, TAGS } from "./document.ts";

const INTRODUCTION = `# Filestore

> Versioned file storage for AI agents over HTTP and JSON. Every write adds a numbered version; concurrent appends never
> lose each other; several files can change in one commit, and what a run did can be undone.

- Send the key in the header \`x-api-key\`. A key belongs to one project and has scopes (\`read\`, \`write\`, \`admin\`); it
  may be confined to a folder.
- Answers are \`{"success": true, "data": …}\` or \`{"success": false, "error": {"code", "message"}, "details"}\`. A refused
  request changes nothing.
- Paths have forward slashes and no leading slash. Folders exist only as parts of paths.
- Send \`Idempotency-Key\` with writes that you may repeat, and \`ifVersion\` with writes that must not overwrite a version
  that you have not read.
- Agents that speak MCP connect to \`{base}/mcp\` with the same key. Apps that sign in as a person connect to
  \`{base}/connect\`, which tells them how.

## Description

- [OpenAPI document]({base}/openapi.json): every route with its fields, bounds, answers and errors
`;

/** The heading of the routes that a client of files does not need. */
const OPTIONAL = "Optional";

/** `- [POST /files](…/openapi.json#/paths/~1files/post): Create a file or add a version (scope write)`. */
function lineOf(route: Route, base: string): string {
  const { method, credentials, openapi: { summary } } = route;
  const path = pathOf(route);
  const pointer = `#/paths/${path.replaceAll("/", "~1")}/${method.toLowerCase()}`;
  const scopes = scopesOf(route);
  const needs = scopes.length > 0
    ? `scope ${scopes.join(" and ")}`
    : credentials === "none"
    ? "no key"
    : credentials;
  return `- [${method} ${path}](${base}/openapi.json${encodeURI(pointer)}): ${summary} (${needs})`;
}

/** Routes of accounts and of the operator come last, as optional: a key for files does not need them. */
function headingOf(route: Route): string {
  const isForPeople = !["key", "link", "app"].includes(route.credentials);
  return isForPeople ? OPTIONAL : tagOf(route);
}

/** The whole page; `base` is the address of the service. */
export function llmsText(routes: readonly Route[], base: string): string {
  const headings = [...TAGS.map(({ name }) => name), OPTIONAL];
  const sections = headings.map((heading) => {
    const lines = routes.filter((route) => headingOf(route) === heading).map((route) => lineOf(route, base));
    return lines.length === 0 ? "" : `\n## ${heading}\n\n${lines.join("\n")}\n`;
  });
  return INTRODUCTION.replaceAll("{base}", base) + sections.join("");
}
