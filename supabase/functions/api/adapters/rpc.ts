/** One call of an SQL function over supabase-js, retried while its failure is transient. */
import type { PostgrestError, SupabaseClient } from "@supabase/supabase-js";
import type { Log } from "../runtime/log.ts";
import { type Outcome, withRetries } from "./backend.ts";

/**
 * Postgres classes and codes of transient failures: connection, resources, operator intervention, and lost races
 * for a lock. https://www.postgresql.org/docs/17/errcodes-appendix.html
 */
const TRANSIENT_SQLSTATE = /^(08|53|57|58|40001|40P01|55P03)/;
/** Of these, the ones after which the transaction is known to be rolled back: nothing was done, nothing counted. */
const ROLLED_BACK_SQLSTATE = /^(53|40001|40P01|55P03|57014)/;
/** PostgREST without a database connection. https://docs.postgrest.org/en/v13/references/errors.html */
const TRANSIENT_POSTGREST = /^PGRST00[0-3]$/;

export interface CallOptions {
  /** Of an account; replaces the client's own key. */
  readonly accessToken?: string;
  /** Maps an error to a value; undefined where it is a failure. */
  readonly valueForError?: (status: number, error: PostgrestError) => unknown;
  /** Called after a try that may have taken effect, or still may. */
  readonly onAmbiguousFailure?: () => void;
}

/** Returns the function's value. Throws SERVICE_UNAVAILABLE when tries or time are used up, anything else at once. */
export function callFunction(
  client: SupabaseClient,
  log: Log,
  name: string,
  parameters: Readonly<Record<string, unknown>>,
  options?: CallOptions,
): Promise<unknown> {
  return withRetries(name, log, async (): Promise<Outcome<unknown>> => {
    const request = client.rpc(name, parameters);
    if (options?.accessToken !== undefined) {
      request.setHeader("Authorization", `Bearer ${options.accessToken}`);
    }
    const { data, error, status } = await request;
    if (error === null) return { value: data };
    const answer = options?.valueForError?.(status, error);
    if (answer !== undefined) return { value: answer };
    if (!isTransient(status, error)) throw new Error(`${name} failed with ${error.code}`);
    if (!ROLLED_BACK_SQLSTATE.test(error.code)) options?.onAmbiguousFailure?.();
    return { transient: error.code || String(status) };
  });
}

/** Whether a failed call may succeed when it is repeated. */
function isTransient(status: number, error: PostgrestError): boolean {
  if (TRANSIENT_SQLSTATE.test(error.code) || TRANSIENT_POSTGREST.test(error.code)) return true;
  // No code of Postgres or PostgREST: a network failure (status 0) or a gateway's own page.
  const isFromDatabase = /^([0-9A-Z]{5}|PGRST\d+)$/.test(error.code ?? "");
  return !isFromDatabase &&
    (status === 0 || status === 408 || status === 429 || status >= 500 || status < 400);
}
