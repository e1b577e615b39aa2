/** What the operator lets the signed-in person do, and what their projects use together. */
import type { Account } from "../../../functions/api/contract/projects.ts";
import { call } from "./client.ts";

export type { Account };

/** Makes no project, unlike the first list of them. */
export function readAccount(signal?: AbortSignal): Promise<Account> {
  return call({ path: "/account", signal });
}
