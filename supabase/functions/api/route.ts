/** The definition of a route. The router, the `Allow` headers and /openapi.json are derived from `routes/mod.ts`. */
import type { Credentials } from "./auth/identify.ts";
import type { Context } from "./context.ts";
import type { Query } from "./http/query.ts";
import type { Success } from "./http/respond.ts";
import type { RequestData } from "./http/request_data.ts";
import type { Operation } from "./contract/service.ts";
import type { Scope } from "./contract/values.ts";
import type { OpenapiProperties } from "./openapi_properties.ts";

/** Where a route is. */
export interface Address {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * The path below the function's address. A trailing `/*` matches the path of a file, slashes included; `:id`,
   * `:name`, `:runId` and `:token` match one segment.
   */
  readonly pattern: string;
}

interface Properties {
  /** Part of every response in the envelope; null for responses without one. */
  readonly operation: Operation | null;
  /** The operation, where the query decides it. */
  readonly operationOf?: (query: Query) => Operation;
  /** By default a key. */
  readonly credentials?: Credentials;
  /** The scopes that a key needs; by default `read` for GET, otherwise `write`. */
  readonly scopes?: readonly Scope[];
  /** The scopes that a key needs, where the query decides it. */
  readonly scopesFor?: (query: Query) => readonly Scope[] | undefined;
  /** Describes what a key may do here with each scope; `openapi/document.ts` combines the descriptions of all routes. */
  readonly allows?: Readonly<Partial<Record<Scope, string>>>;
  /** Whether it adds versions, which record the provenance in the request's headers. */
  readonly makesVersions?: boolean;
  /** Whether a request with this query, sent by the project's owner from the console, is not counted in the window. */
  readonly isFreeForOwner?: (query: Query) => boolean;
  /** Present: the route is for apps that sign in, so it needs the console's address. `challenge`: of its 401. */
  readonly ofOAuth?: { readonly challenge?: (request: Request) => string };
  readonly openapi: OpenapiProperties;
}

/** A response, or a success that `app.ts` puts into the envelope with the operation. */
type Outcome = Promise<Response | Success>;

interface PlainRoute extends Properties {
  readonly handle: (context: Context) => Outcome;
}

interface ParsingRoute<Parameters> extends Properties {
  /** Validates the request's own data, without its body. Pure. Throws ApiError. */
  readonly parse: (data: RequestData) => Parameters;
  readonly handle: (context: Context, parameters: Parameters) => Outcome;
}

/** A route without its address. */
export interface Definition extends Properties {
  readonly credentials: Credentials;
  /** Parses the request and returns its handler. */
  readonly prepare: (data: RequestData) => PlainRoute["handle"];
}

export type Route = Address & Definition;

/** Routes whose protocol or clients may add parameters that the service does not know. */
const TAKES_ANY_PARAMETER =
  /^\/(oauth\/(?!requests|consent)|\.well-known\/|connect\/|(health|openapi\.json|llms\.txt|l)(\/|$))/;

/** Whether the route refuses query parameters that it does not know. */
export function isStrict({ pattern }: Pick<Route, "pattern">): boolean {
  return !TAKES_ANY_PARAMETER.test(pattern);
}

/** Hides the type of a route's parameters, so that one table can hold all routes. */
export function defineRoute<Parameters>(definition: ParsingRoute<Parameters>): Definition;
export function defineRoute(definition: PlainRoute): Definition;
export function defineRoute<Parameters>(definition: ParsingRoute<Parameters> | PlainRoute): Definition {
  return {
    credentials: "key",
    ...definition,
    prepare: (data) => {
      if (!("parse" in definition)) return definition.handle;
      const parameters = definition.parse(data);
      return (context) => definition.handle(context, parameters);
    },
  };
}

/** The scopes that a key needs for a route about files. The database decides about routes for projects. */
export function scopesOf(
  { scopes, scopesFor, method, credentials }: Route,
  query: Query = new Map(),
): readonly Scope[] {
  if (credentials !== "key") return [];
  return scopesFor?.(query) ?? scopes ?? [method === "GET" ? "read" : "write"];
}
