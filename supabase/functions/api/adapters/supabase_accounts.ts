/** Accounts over supabase-js: each method calls one SQL function under the account's own access token. */
import type { PostgrestError, SupabaseClient } from "@supabase/supabase-js";
import type { AccountAnswer, Accounts, AdministrativeAction } from "../ports/accounts.ts";
import type { KeyHash } from "../ports/answer.ts";
import { parseAccountAnswer } from "./answers.ts";
import type { CallParts } from "./backend.ts";
import { callFunction, isApiKeyRefused } from "./rpc.ts";

/** PostgREST's codes for an invalid token, and Postgres's for a role that may not call the function. */
const NOT_SIGNED_IN = /^(PGRST30[0-3]|42501)$/;

export class SupabaseAccounts implements Accounts {
  /** `client` has the publishable key, which may not call these functions without an account's token. */
  constructor(private readonly client: () => SupabaseClient, private readonly parts: CallParts) {}

  describe(accessToken: string): Promise<AccountAnswer<unknown>> {
    return this.call(accessToken, "filestore_account_describe", {});
  }

  projects(accessToken: string): Promise<AccountAnswer<unknown>> {
    return this.call(accessToken, "filestore_account_projects", {});
  }

  createProject(accessToken: string, name: string): Promise<AccountAnswer<unknown>> {
    return this.call(accessToken, "filestore_account_create_project", {
      p_name: name,
      p_id: crypto.randomUUID(),
    });
  }

  administer(
    accessToken: string,
    projectId: string | null,
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<AccountAnswer<unknown>> {
    const request = { p_project_id: projectId, p_action: action, p_parameters: parameters };
    return this.call(accessToken, "filestore_account_administer", request);
  }

  deleteAccount(accessToken: string, confirm: string): Promise<AccountAnswer<unknown>> {
    const request = { p_confirm: confirm, p_deletion_id: crypto.randomUUID() };
    return this.call(accessToken, "filestore_account_delete", request);
  }

  openSession(accessToken: string, projectId: string, tokenHash: KeyHash): Promise<AccountAnswer<unknown>> {
    const request = { p_project_id: projectId, p_token_hash: tokenHash };
    return this.call(accessToken, "filestore_account_session", request);
  }

  private async call(
    accessToken: string,
    name: string,
    parameters: Record<string, unknown>,
  ): Promise<AccountAnswer<unknown>> {
    const data = await callFunction(this.client(), this.parts, name, parameters, {
      accessToken,
      valueForError: invalidSession,
    });
    return parseAccountAnswer(data);
  }
}

/** The answer where the token is refused before the function runs. */
function invalidSession(status: number, error: PostgrestError): unknown {
  if (isApiKeyRefused(status, error)) return undefined;
  return status === 401 || status === 403 || NOT_SIGNED_IN.test(error.code)
    ? { refusal: { code: "INVALID_SESSION", details: {} } }
    : undefined;
}
