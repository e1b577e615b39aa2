/** Branches: created whole, read with their conflicts, and changed. `merge_branch.ts` merges them. */
import type { Branch } from "../contract/branches.ts";
import { failField } from "../errors.ts";
import { isInBranch } from "../http/path.ts";
import { BRANCH_FILES_PER_REQUEST, BRANCH_SECONDS_DEFAULT, WORK_UNITS_PER_REQUEST } from "../limits.ts";
import type { BranchUpdate, Metadata, NewBranch } from "../ports/metadata.ts";
import type { Gate } from "../auth/gate.ts";
import { mergedText, mergeWork, removeBranchFiles } from "./merge_branch.ts";
import type { SegmentSource } from "./read_segments.ts";

export interface BranchContext extends SegmentSource {
  readonly gate: Gate;
  readonly metadata: Pick<Metadata, "branch" | "changeBranch" | "createBranch" | "removeBranchFiles">;
  readonly onCommit: () => void;
  readonly onEvent: () => void;
}

type Creation = Omit<NewBranch, "commitId" | "expiresIn"> & { readonly expiresIn?: number | undefined };

/** Creates a branch, slice by slice. A repeated request goes on with one that was cut off. */
export async function createWholeBranch(
  { gate, metadata, onCommit }: Pick<BranchContext, "gate" | "metadata" | "onCommit">,
  creation: Creation,
): Promise<Branch> {
  if (isInBranch(creation.directory)) failField("directory", "must not be in a branch");
  const { expiresIn = BRANCH_SECONDS_DEFAULT } = creation;
  const created = { ...creation, expiresIn, commitId: crypto.randomUUID() };
  for (;;) {
    const { branch } = gate.unwrap(await metadata.createBranch(gate.caller, created));
    onCommit();
    if (branch === null) continue;
    gate.addWork(branch.fileCount / BRANCH_FILES_PER_REQUEST);
    return branch;
  }
}

/** A branch with a page of its changes: those whose texts cannot be merged are marked, and counted, as conflicts. */
export async function readBranch(context: BranchContext, name: string, limit: number, after?: string) {
  const { gate, metadata } = context;
  const { isInside, texts, changes: found, counts, ...rest } = gate.unwrap(
    await metadata.branch(gate.caller, name, limit, after),
  );
  const work = mergeWork();
  const conflicts = new Set<string>();
  for (const text of texts) {
    if (await mergedText(context, text, work) === null) conflicts.add(text.path);
  }
  gate.addWork(work.units / WORK_UNITS_PER_REQUEST);
  const changes = found.map(({ conflict, ...change }) =>
    isInside ? change : { ...change, conflict: conflict === true || conflicts.has(change.path) }
  );
  const total = isInside ? 0 : counts.conflicts + conflicts.size;
  return { ...rest, changes, counts: { ...counts, conflicts: total } };
}

/** Changes a branch. The files of a closed one are deleted by commits of their own. */
export async function changeBranch(
  context: BranchContext,
  name: string,
  change: Omit<BranchUpdate, "commitId">,
): Promise<Branch> {
  const { gate, metadata, onEvent } = context;
  const update = { ...change, commitId: crypto.randomUUID() };
  const branch = gate.unwrap(await metadata.changeBranch(gate.caller, name, update));
  onEvent();
  if (branch.state === "closed") await removeBranchFiles(context, name);
  return branch;
}
