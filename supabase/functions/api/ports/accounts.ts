/** The actions of signed-in people on their projects. */
import type { AppScope } from "../contract/apps.ts";
import type { AccountAnswer, KeyHash } from "./answer.ts";
import type { Parameters } from "./calls.ts";

/** The actions on a project other than those on its files; see `filestore.administer`. */
export type AdministrativeAction =
  | "project"
  | "rename"
  | "delete"
  | "keys"
  | "create_key"
  | "rotate_key"
  | "regenerate_key"
  | "change_key"
  | "revoke_key"
  | "activity"
  | "usage"
  | "webhooks"
  | "create_webhook"
  | "change_webhook"
  | "delete_webhook"
  | "test_webhook"
  | "replay_webhook"
  | "webhook_deliveries";

/** The actions on the people in a project; see `filestore_account_members`. */
export type MemberAction = "members" | "invite" | "change_member" | "remove_member" | "transfer";

/** What a person allows an app; the rights are those of a key. */
export interface NewApp {
  readonly name: string;
  readonly scopes: readonly AppScope[];
  readonly pathPrefix: string | null;
  readonly expiresAt: string | null;
  /** SHA-256 of the client's id, 64 hexadecimal digits. */
  readonly clientHash: string;
  readonly clientName: string;
  readonly clientHost: string;
  readonly redirectUri: string;
  readonly challenge: string;
}

export type Accounts = ReturnType<typeof accountsOver>;

/**
 * Each method is one back-end call under the account's own access token, which the back end verifies: INVALID_SESSION
 * where it is not valid. The database decides by the account's role in the project. Throws `ApiError("SERVICE_UNAVAILABLE")`
 * when the back end stays out of reach. Values are validated by the caller.
 */
export function accountsOver(
  call: (accessToken: string, name: string, parameters: Parameters) => Promise<AccountAnswer>,
) {
  return {
    /** The account's permissions and usage; see `filestore_account_describe`. */
    describe: (accessToken: string) => call(accessToken, "filestore_account_describe", {}),
    /** The account's projects, oldest first, and its invitations: `{projects, invitations}`. */
    projects: (accessToken: string) => call(accessToken, "filestore_account_projects", {}),
    createProject: (accessToken: string, name: string) =>
      call(accessToken, "filestore_account_create_project", { name, id: crypto.randomUUID() }),
    /** Performs `action` on a project of the account, by default the oldest one. */
    administer: (
      accessToken: string,
      projectId: string | null,
      action: AdministrativeAction,
      parameters: Parameters,
    ) => call(accessToken, "filestore_account_administer", { projectId, action, parameters }),
    /** Performs `action` on the people in a project of the account, by default the oldest one. */
    manageMembers: (
      accessToken: string,
      projectId: string | null,
      action: MemberAction,
      parameters: Parameters,
    ) => call(accessToken, "filestore_account_members", { projectId, action, parameters }),
    /** Accepts an invitation, and returns the project, or declines it, and returns `{id}`. */
    answerInvitation: (accessToken: string, id: string, accepts: boolean) =>
      call(accessToken, "filestore_account_answer_invitation", { id, accepts }),
    /** Ends the account whose e-mail address is `confirm`, and all of its projects; returns `{id, deletedAt}`. */
    deleteAccount: (accessToken: string, confirm: string) =>
      call(accessToken, "filestore_account_delete", { confirm, deletionId: crypto.randomUUID() }),
    /** Refused with REQUEST_NOT_FOUND where the request of an app is answered already. */
    appRequest: (accessToken: string, requestId: string) =>
      call(accessToken, "filestore_account_request", { requestId }),
    /** Answers the request of an app once: lets it into the project; `app` null: refuses. `codeHash`: of the app's code. */
    answerApp: (
      accessToken: string,
      answer: { requestId: string; codeHash: KeyHash; projectId: string | null; app: NewApp | null },
    ) => call(accessToken, "filestore_account_consent", answer),
    /** Makes the token with this hash valid as a key of the project for ten minutes. */
    openSession: (accessToken: string, projectId: string, tokenHash: KeyHash) => {
      const parameters = { projectId, action: "session", parameters: { tokenHash } };
      return call(accessToken, "filestore_account_administer", parameters);
    },
  };
}
