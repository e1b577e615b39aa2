/** What a route is: the table in `routes/mod.ts` makes the router, the `Allow` headers and /openapi.json from it. */
import type { z } from "zod";
import type { Context } from "../context.ts";
import type { ErrorCode } from "../errors.ts";
import type { Scope } from "../ports/answer.ts";
import type { Operation } from "../http/respond.ts";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the function's address. A trailing `/*` stands for the path of a file, slashes and all; `:id` for one segment. */
  readonly pattern: string;
  /** Named in answers and refusals; null outside the envelope. */
  readonly operation: Operation | null;
  /** False for routes that anyone may call, or that look at credentials themselves. */
  readonly needsKey: boolean;
  /** What the key must be allowed; by default `read` for GET, else `write`. */
  readonly scopes?: readonly Scope[];
  readonly handle: (context: Context) => Promise<Response> | Response;
  readonly document: RouteDocument;
}

/** For /openapi.json. */
export interface RouteDocument {
  /** Of an account's access token, and of a key where that will do; by default a key, where the route needs one. */
  readonly credentials?: "account" | "account or key";
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** Each property is a query parameter. */
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Whether the body may also be the bytes themselves. */
  readonly takesRaw?: boolean;
  /** Request headers that matter, besides the key. */
  readonly headers?: readonly string[];
  /** The schema of `data`, or of the whole answer where there is no envelope. */
  readonly answer: z.ZodType;
  readonly errors: readonly ErrorCode[];
}
