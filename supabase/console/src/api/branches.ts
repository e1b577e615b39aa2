import type {
  Branch,
  BranchDetails,
  BranchPage,
  MergeResult as Merge,
} from "../../../functions/api/contract/branches.ts";
import { BRANCH_CHANGES_PER_PAGE, BRANCHES_PER_PAGE, CHANGES_PER_ANSWER } from "../limits.ts";
import { listChangesBefore } from "./changes.ts";
import { call } from "./client.ts";

export type { Branch, BranchDetails, Merge };
export type BranchState = Branch["state"];
export type BranchChange = BranchDetails["changes"][number];

/** What a merge or an update takes for one file in conflict. */
export type Resolution = { readonly take: "branch" | "current" } | { readonly content: string };

/** `merge`: a branch into its folder. `update`: what came since in the folder, into the branch. */
export type MergeKind = "merge" | "update";

export interface HowToMerge {
  readonly onConflict: "refuse" | "branch" | "current";
  /** Only these files; all of them if left out. */
  readonly paths?: readonly string[] | undefined;
  readonly resolutions: ReadonlyMap<string, Resolution>;
  /** Fails with PRECONDITION_FAILED if the folder that is written was changed after this cursor. */
  readonly expected?: string | undefined;
}

/** Whether the branch takes writes, and can be merged or closed. */
export function isUnfinished({ state }: Branch): boolean {
  return state === "open" || state === "ready";
}

/** Newest first; `after` is the cursor of the previous page. */
export function listBranches(
  projectId: string,
  query: { readonly state?: BranchState | undefined; readonly after?: string | undefined },
  signal?: AbortSignal,
): Promise<BranchPage> {
  return call({ path: "/branches", projectId, query: { limit: BRANCHES_PER_PAGE, ...query }, signal });
}

/** `after` is the path of the last change on the previous page. */
export function readBranch(
  projectId: string,
  name: string,
  query: { readonly limit?: number; readonly after?: string | undefined },
  signal?: AbortSignal,
): Promise<BranchDetails> {
  const whole = { limit: BRANCH_CHANGES_PER_PAGE, ...query };
  return call({ path: urlPath(name), projectId, query: whole, signal });
}

export function createBranch(
  projectId: string,
  branch: { readonly name: string; readonly directory: string; readonly title: string | undefined },
): Promise<Branch> {
  return call({ method: "POST", path: "/branches", projectId, body: branch });
}

export function changeBranch(
  projectId: string,
  name: string,
  change: { readonly state: "open" | "ready" | "closed" },
): Promise<Branch> {
  return call({ method: "PATCH", path: urlPath(name), projectId, body: change });
}

/** Returns what a merge or an update would do now. */
export function planMerge(
  projectId: string,
  name: string,
  kind: MergeKind,
  how: HowToMerge,
  signal?: AbortSignal,
): Promise<Merge> {
  return call({ ...mergeCall(projectId, name, kind, how, true), signal });
}

/** Fails with MERGE_CONFLICT if a conflict is left and `onConflict` is `refuse`. */
export function merge(projectId: string, name: string, kind: MergeKind, how: HowToMerge): Promise<Merge> {
  const headers = { "idempotency-key": crypto.randomUUID() };
  return call({ ...mergeCall(projectId, name, kind, how, false), headers });
}

/**
 * Returns the runs that merged this branch into its folder, newest first, as far as the newest merges of the folder show
 * them: a run that only deleted files names no branch.
 */
export async function runsOfMerge(
  projectId: string,
  { path, directory, updatedAt }: Branch,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // A branch that has been merged does not change any more.
  const before = new Date(Date.parse(updatedAt) + 1_000).toISOString();
  const query = { before, operation: "merge", directory: directory || undefined, limit: CHANGES_PER_ANSWER };
  const { changes } = await listChangesBefore(projectId, query, signal);
  const own = changes.filter(({ from }) => from?.path.startsWith(`${path}/`));
  return [...new Set(own.flatMap(({ runId }) => runId ?? []))];
}

function mergeCall(
  projectId: string,
  name: string,
  kind: MergeKind,
  { resolutions, ...how }: HowToMerge,
  dryRun: boolean,
) {
  const chosen = [...resolutions].map(([path, resolution]) => ({ path, ...resolution }));
  const body = { ...how, dryRun, resolutions: chosen };
  return { method: "POST", path: `${urlPath(name)}/${kind}`, projectId, body } as const;
}

function urlPath(name: string): string {
  return `/branches/${encodeURIComponent(name)}`;
}
