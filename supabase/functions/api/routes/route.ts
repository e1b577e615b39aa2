/** What a route is: the table in `routes/mod.ts` makes the router, the `Allow` headers and /openapi.json from it. */
import type { z } from "zod";
import type { Context } from "../context.ts";
import type { ErrorCode } from "../errors.ts";
import type { Operation } from "../respond.ts";

export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the function's address. A trailing `/*` stands for the path of a file, slashes and all. */
  readonly pattern: string;
  /** Named in answers and refusals; null outside the envelope. */
  readonly operation: Operation | null;
  /** False for the few routes that anyone may call. */
  readonly needsKey: boolean;
  readonly handle: (context: Context) => Promise<Response> | Response;
  readonly document: RouteDocument;
}

/** For /openapi.json. */
export interface RouteDocument {
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
