import type { Branch, BranchState } from "../../api/branches.ts";
import { visible } from "../../format.ts";

export const STATES: readonly BranchState[] = ["open", "ready", "merged", "closed"];

/** A person creates branches in the console, an agent with a key. */
export function creatorOf({ createdBy: { keyName } }: Branch): string {
  return keyName === undefined ? "Console" : visible(keyName);
}

export function StateTag({ state }: { readonly state: BranchState }) {
  return <span class={state === "ready" ? "tag active" : "tag"}>{state}</span>;
}
