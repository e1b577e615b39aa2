/** One call of an SQL function over supabase-js, retried while its failure is transient. */
import type { PostgrestError, SupabaseClient } from "@supabase/supabase-js";
import type { Parameters } from "../ports/calls.ts";
import { type CallParts, type Outcome, withRetries } from "./backend.ts";
import type { Notice } from "./notices.ts";

/**
 * Postgres classes and codes of transient failures: connection, resources, operator intervention, lost races for a
 * lock, and a database that is read-only. https://www.postgresql.org/docs/17/errcodes-appendix.html
 */
const TRANSIENT_SQLSTATE = /^(08|53|57|58|25006|40001|40P01|55P03)/;
/** The codes after which the transaction is certainly rolled back: it changed and counted nothing. */
const ROLLED_BACK_SQLSTATE = /^(53|25006|40001|40P01|55P03|57014)/;
/** The statement took longer than the role's statement_timeout. Another try would too, and would burden the database. */
const STATEMENT_TIMED_OUT = "57014";
/** PostgREST without a database connection. https://docs.postgrest.org/en/v14/references/errors.html */
const TRANSIENT_POSTGREST = /^PGRST00[0-3]$/;
/** The function is not in PostgREST's schema cache, or no longer in the database, as while a version is deployed. */
const UNKNOWN_FUNCTION = /^(PGRST202|42883)$/;
/** PostgREST cannot verify the token, or the token's role may not call the function. */
export const REFUSED = /^(PGRST30[0-3]|42501)$/;
/** A code of Postgres or PostgREST. An answer without a code comes from neither of them. */
const CODE = /^([0-9A-Z]{5}|PGRST\d+)$/;

/** The gateway's message for an unknown `apikey`, which has no code. */
const API_KEY_REFUSED = /api key|authentication credentials/i;

/** A call failed with a code that names a defect. The log shows an error's name, never its message. */
class CallError extends Error {
  constructor(call: string, code: string) {
    super(`${call} failed with ${code}`);
    this.name = `CallError ${call} ${code}`;
  }
}

export interface CallOptions {
  /** An account's token, which replaces the client's own key. */
  readonly accessToken?: string;
  /** Maps an error to a value; undefined where it is a failure. */
  readonly valueForError?: (status: number, error: PostgrestError) => unknown;
  /** Called after a try that may have taken effect, or still may. */
  readonly onLost?: () => void;
  /** Whether the function may return nothing. */
  readonly mayBeNull?: boolean;
}

function named(parameters: Parameters): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      `p_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      value ?? null,
    ]),
  );
}

/** Returns the function's value. Throws SERVICE_UNAVAILABLE when tries or time are used up; throws other errors at once. */
export function callFunction(
  client: SupabaseClient,
  parts: CallParts,
  name: string,
  parameters: Parameters,
  options: CallOptions = {},
): Promise<unknown> {
  return withRetries(parts, name, async (): Promise<Outcome<unknown>> => {
    const request = client.rpc(name, named(parameters));
    const isAccount = options.accessToken !== undefined;
    if (isAccount) request.setHeader("Authorization", `Bearer ${options.accessToken}`);
    const { data, error, status } = await request;
    if (error === null) {
      // If a gateway answers 404 without a body, postgrest-js reports an empty result.
      const isEmpty = data === null && options.mayBeNull !== true;
      return isEmpty ? { transient: "empty" } : { value: data };
    }
    const answer = options.valueForError?.(status, error);
    if (answer !== undefined) return { value: answer };
    const failure = transientFailure(
      status,
      error,
      isAccount ? "publishable_key_refused" : "secret_key_refused",
    );
    if (failure === undefined) throw new CallError(name, error.code);
    return failure;
  }, options.onLost);
}

/** Whether the gateway refused the client's own key, independently of the token. */
export function isApiKeyRefused(status: number, { code, message }: PostgrestError): boolean {
  return (status === 401 || status === 403) && !CODE.test(code ?? "") && API_KEY_REFUSED.test(message ?? "");
}

/** A failed call that may succeed when it is repeated; undefined for a defect. */
function transientFailure(
  status: number,
  { code, message }: PostgrestError,
  keyRefused: Notice,
): Outcome<never> | undefined {
  const transient = code || String(status);
  if (REFUSED.test(code ?? "")) return { transient, isUndone: true, notice: keyRefused };
  if (UNKNOWN_FUNCTION.test(code ?? "")) return { transient, isUndone: true, notice: "function_unknown" };
  const isUndone = ROLLED_BACK_SQLSTATE.test(code ?? "");
  if (code === "25006") return { transient, isUndone, notice: "database_read_only" };
  if (TRANSIENT_SQLSTATE.test(code ?? "") || TRANSIENT_POSTGREST.test(code ?? "")) {
    return { transient, isUndone, isFinal: code === STATEMENT_TIMED_OUT };
  }
  // An error of the database has a code. Without a code it is a network failure (status 0), a gateway's own page, or a
  // lost connection of PostgREST, before or during the COMMIT: then it is not known whether the call had an effect.
  if (CODE.test(code ?? "")) return undefined;
  const isRefused = status === 401 || status === 403;
  const isKey = status === 401 || (isRefused && API_KEY_REFUSED.test(message ?? ""));
  return { transient, isUndone: isRefused, ...(isKey && { notice: keyRefused }) };
}
