/** The definition of a route. The router, the `Allow` headers and /openapi.json are derived from `routes/mod.ts`. */
import type { z } from "zod";
import type { Credentials } from "./auth/identify.ts";
import type { Context } from "./context.ts";
import type { ErrorCode } from "./errors.ts";
import type { Query } from "./http/query.ts";
import type { Success } from "./http/respond.ts";
import type { RequestData } from "./http/request_data.ts";
import type { Operation } from "./contract/service.ts";
import type { Scope } from "./contract/values.ts";

/** Headers that not every response has. */
export type ResponseHeader =
  | "Accept-Ranges"
  | "Allow"
  | "Content-Disposition"
  | "Content-Range"
  | "Content-Security-Policy"
  | "ETag"
  | "Idempotency-Replayed"
  | "Referrer-Policy"
  | "Retry-After"
  | "WWW-Authenticate"
  | "X-Content-Type-Options";

/** Where a route is. */
export interface Address {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /**
   * The path below the function's address. A trailing `/*` matches the path of a file, slashes included; `:id`,
   * `:runId` and `:token` match one segment.
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
const TAKES_ANY_PARAMETER = /^\/(oauth|health|openapi\.json|llms\.txt|l)(\/|$)/;

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

/** An error of a route, with its status where that differs from the table's. */
export type DocumentedError = ErrorCode | readonly [ErrorCode, number];

/** The properties of a route that describe it in /openapi.json. */
export interface OpenapiProperties {
  /** By default the route's operation: `readFile` for `read_file`. */
  readonly id?: string;
  readonly summary: string;
  readonly description?: string;
  /** Each property is a query parameter. */
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Whether the body may be left out. */
  readonly isBodyOptional?: boolean;
  /** Whether the body may also be raw bytes; "only": it always is. */
  readonly takesRaw?: boolean | "only";
  /** Whether the response may also be raw bytes, or a range of them; "only": it always is. */
  readonly returnsRaw?: boolean | "only";
  /** The media type of a success that is neither JSON nor the bytes of a file. */
  readonly mediaType?: string;
  /** Request headers that the route reads, other than the credentials. */
  readonly headers?: readonly string[];
  /** Headers of a success that not every response has. */
  readonly responseHeaders?: readonly ResponseHeader[];
  /**
   * The schema of `data`, or of the whole response where it has no envelope; one for each operation where the query
   * decides about the operation. Absent where the response is always raw bytes.
   */
  readonly answer?: z.ZodType | readonly (readonly [Operation, z.ZodType])[];
  /** Whether only failures are in the envelope. */
  readonly isPlain?: boolean;
  /** Whether the route speaks JSON-RPC: answers and faults of the protocol are not in the envelope; some have no body. */
  readonly isProtocol?: boolean;
  /** Statuses other than 200 that have this answer. */
  readonly statuses?: readonly number[];
  /** The errors of the route, without those that `openapi/failure.ts` derives from its inputs and credentials. */
  readonly errors?: readonly DocumentedError[];
  /** An example of the body. */
  readonly example?: unknown;
}
