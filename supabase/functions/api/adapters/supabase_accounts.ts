/** Accounts over supabase-js: calls under the account's own access token. */
import type { PostgrestError, SupabaseClient } from "@supabase/supabase-js";
import { type Accounts, accountsOver } from "../ports/accounts.ts";
import { envelope } from "../ports/answer.ts";
import type { CallParts } from "./backend.ts";
import { callFunction, isApiKeyRefused, REFUSED } from "./rpc.ts";

/** `client` has the publishable key, which may not call these functions without an account's token. */
export function supabaseAccounts(client: () => SupabaseClient, parts: CallParts): Accounts {
  return accountsOver(async (accessToken, name, parameters) => {
    const options = { accessToken, valueForError: invalidSession };
    const data = await callFunction(client(), parts, name, parameters, options);
    const { rate = null, value, refusal } = envelope.parse(data);
    return refusal ? { rate, ok: false, refusal } : { rate, ok: true, value };
  });
}

/** The answer where the token is refused before the function runs. */
function invalidSession(status: number, error: PostgrestError): unknown {
  if (isApiKeyRefused(status, error)) return undefined;
  return status === 401 || status === 403 || REFUSED.test(error.code)
    ? { refusal: { code: "INVALID_SESSION", details: {} } }
    : undefined;
}
