import type { Branch, BranchState } from "../../api/branches.ts";
import { visible } from "../../format.ts";
import { personName } from "../../state/keys.ts";

export const STATES: readonly BranchState[] = ["open", "ready", "merged", "closed"];

/** The display name of who created or merged a branch: a person in the console, an agent with a key. */
export function authorName({ keyName, account, email }: Branch["createdBy"]): string {
  if (keyName !== undefined) return visible(keyName);
  return personName(account === undefined || email === undefined ? undefined : { id: account, email });
}

export function StateTag({ state }: { readonly state: BranchState }) {
  return <span class={state === "ready" ? "tag active" : "tag"}>{state}</span>;
}
