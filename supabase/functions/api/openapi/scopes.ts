/** What a key may do with each scope, in words, for the documents, /openapi.json, the console and the command line. */
import type { Scope } from "../contract/values.ts";
import type { Route } from "../route.ts";

export const SCOPES: readonly Scope[] = ["read", "write", "admin"];

const list = new Intl.ListFormat("en");

/** `list files, read files and their versions, …`: all that the routes allow with this scope. */
export function describeScope(scope: Scope, routes: readonly Route[]): string {
  return list.format(new Set(routes.flatMap(({ allows }) => allows?.[scope] ?? [])));
}
