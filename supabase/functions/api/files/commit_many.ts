/** Commits of many files. */
import type { Gate } from "../auth/gate.ts";
import { fail } from "../errors.ts";
import { idempotency } from "../http/conditions.ts";
import type { FolderResult } from "../contract/files.ts";
import type { UndoResult } from "../contract/runs.ts";
import type { FolderCommit, ManyCommitted, RestoreFolder, Undo } from "../ports/commit.ts";
import type { Metadata } from "../ports/metadata.ts";

export interface ManyCommitter {
  readonly gate: Pick<Gate, "caller" | "observe" | "unwrap" | "provenance">;
  readonly metadata: Pick<Metadata, "commitFolder" | "commitRevert" | "plan">;
  readonly onCommit: () => void;
}

/** Commits a folder. Throws the refusal. */
export async function commitMany(
  { gate, metadata, onCommit }: ManyCommitter,
  key: string | undefined,
  commit: FolderCommit,
): Promise<ManyCommitted<FolderResult>> {
  const basis = { commitId: crypto.randomUUID(), idempotency: await once(key, commit.path, commit) };
  const answer = gate.observe(await metadata.commitFolder(gate.caller, { ...commit, ...basis }));
  if (!answer.ok && answer.refusal.code === "FILE_NOT_FOUND") {
    const { details } = answer.refusal;
    const shown = Object.keys(details).length > 0 ? details : undefined;
    fail("FILE_NOT_FOUND", `There are no files below \`${commit.path}\`.`, shown);
  }
  const committed = gate.unwrap(answer);
  onCommit();
  return committed;
}

/** Commits an undo or restore, which has a run of its own: the request's, or a new one. Throws the refusal. */
export async function commitRevert(
  { gate, metadata, onCommit }: ManyCommitter,
  key: string | undefined,
  commit: Undo | RestoreFolder,
): Promise<ManyCommitted<UndoResult>> {
  const basis = { commitId: crypto.randomUUID(), idempotency: await once(key, "", commit) };
  gate.provenance = { ...gate.provenance, runId: gate.provenance?.runId ?? crypto.randomUUID() };
  const committed = gate.unwrap(await metadata.commitRevert(gate.caller, { ...commit, ...basis }));
  onCommit();
  return committed;
}

/** Returns the steps that `commitRevert` would commit now. Throws the refusal. */
export async function planRevert(
  { gate, metadata }: ManyCommitter,
  commit: Undo | RestoreFolder,
): Promise<UndoResult> {
  return gate.unwrap(await metadata.plan(gate.caller, commit));
}

function once(key: string | undefined, path: string, commit: { readonly kind: string }) {
  return idempotency(key, commit.kind, path, commit);
}
