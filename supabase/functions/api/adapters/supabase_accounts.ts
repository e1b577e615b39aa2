/** Accounts over supabase-js: each method calls one SQL function under the account's own access token. */
import type { PostgrestError, SupabaseClient } from "@supabase/supabase-js";
import type { Accounts } from "../ports/accounts.ts";
import { parseAccountAnswer } from "./answers.ts";
import type { CallParts } from "./backend.ts";
import { callFunction, isApiKeyRefused, type Parameters } from "./rpc.ts";

/** PostgREST's codes for an invalid token, and Postgres's for a role that may not call the function. */
const NOT_SIGNED_IN = /^(PGRST30[0-3]|42501)$/;

/** `client` has the publishable key, which may not call these functions without an account's token. */
export function supabaseAccounts(client: () => SupabaseClient, parts: CallParts): Accounts {
  const call = async (accessToken: string, name: string, parameters: Parameters) => {
    const options = { accessToken, valueForError: invalidSession };
    return parseAccountAnswer(await callFunction(client(), parts, name, parameters, options));
  };
  return {
    describe: (token) => call(token, "filestore_account_describe", {}),
    projects: (token) => call(token, "filestore_account_projects", {}),
    createProject: (token, name) =>
      call(token, "filestore_account_create_project", { name, id: crypto.randomUUID() }),
    administer: (token, projectId, action, parameters) =>
      call(token, "filestore_account_administer", { projectId, action, parameters }),
    deleteAccount: (token, confirm) =>
      call(token, "filestore_account_delete", { confirm, deletionId: crypto.randomUUID() }),
    openSession: (token, projectId, tokenHash) =>
      call(token, "filestore_account_administer", {
        projectId,
        action: "session",
        parameters: { tokenHash },
      }),
  };
}

/** The answer where the token is refused before the function runs. */
function invalidSession(status: number, error: PostgrestError): unknown {
  if (isApiKeyRefused(status, error)) return undefined;
  return status === 401 || status === 403 || NOT_SIGNED_IN.test(error.code)
    ? { refusal: { code: "INVALID_SESSION", details: {} } }
    : undefined;
}
