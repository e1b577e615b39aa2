/** The actions of signed-in people on their projects. */
import type { KeyHash, RateView, Refusal } from "./answer.ts";

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
  | "usage";

export type AccountAnswer<T> =
  & {
    /** The account's own window, in which the call was counted; null if no account was identified. */
    readonly rate: RateView | null;
  }
  & ({ readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal });

/**
 * Each method is one back-end call under the account's own access token, which the back end verifies: INVALID_SESSION
 * where it is not valid. The database decides by the owner of the project. Throws `ApiError("SERVICE_UNAVAILABLE")`
 * when the back end stays out of reach. Values are validated by the caller.
 */
export interface Accounts {
  /**
   * The account's permissions and usage; see `filestore_account_describe`. Unlike `projects`, it does not create a
   * first project.
   */
  describe(accessToken: string): Promise<AccountAnswer<unknown>>;
  /** The account's projects, oldest first. The first call creates one if the account may create projects. */
  projects(accessToken: string): Promise<AccountAnswer<unknown>>;
  createProject(accessToken: string, name: string): Promise<AccountAnswer<unknown>>;
  /** Performs `action` on a project of the account, by default the oldest one. */
  administer(
    accessToken: string,
    projectId: string | null,
    action: AdministrativeAction,
    parameters: Readonly<Record<string, unknown>>,
  ): Promise<AccountAnswer<unknown>>;
  /** Ends the account whose e-mail address is `confirm`, and all of its projects; returns `{id, deletedAt}`. */
  deleteAccount(accessToken: string, confirm: string): Promise<AccountAnswer<unknown>>;
  /** Makes the token with this hash valid as a key of the project for ten minutes. */
  openSession(accessToken: string, projectId: string, tokenHash: KeyHash): Promise<AccountAnswer<unknown>>;
}
