/** What a route says of itself in /openapi.json. */
import type { z } from "zod";
import type * as answers from "./contract/answers.ts";
import type { Operation } from "./contract/service.ts";
import type { ErrorCode } from "./errors.ts";

/** Headers that not every response has. */
export type ResponseHeader =
  | "Accept-Ranges"
  | "Allow"
  | "Content-Disposition"
  | "Content-Range"
  | "Content-Security-Policy"
  | "ETag"
  | "Idempotency-Replayed"
  | "Location"
  | "Referrer-Policy"
  | "Retry-After"
  | "WWW-Authenticate"
  | "X-Content-Type-Options";

/** The name of the schema of an answer. */
export type AnswerName = keyof typeof answers;

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
  /** Present where the body is a form instead of JSON. */
  readonly form?: z.ZodType;
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
   * The schema of `data` by its name, or of the whole response where it has no envelope; one for each operation where
   * the query decides about the operation. Absent where the response is always raw bytes.
   */
  readonly answer?: AnswerName | readonly (readonly [Operation, AnswerName])[];
  /** Whether only failures are in the envelope. */
  readonly isPlain?: boolean;
  /** Whether the route speaks JSON-RPC: answers and faults of the protocol are not in the envelope; some have no body. */
  readonly isProtocol?: boolean;
  /** Whether successes and failures are those of OAuth, not in the envelope. */
  readonly speaksOAuth?: boolean;
  /** The status of a success, where it is not 200; a redirect has no body. */
  readonly successStatus?: 201 | 302;
  /** Statuses other than 200 that have this answer. */
  readonly statuses?: readonly number[];
  /** The errors of the route, without those that `openapi/failure.ts` derives from its inputs and credentials. */
  readonly errors?: readonly DocumentedError[];
  /** An example of the body. */
  readonly example?: unknown;
}
