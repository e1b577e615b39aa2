/** Commits of many files. */
import type { Gate } from "../auth/gate.ts";
import { idempotency } from "../http/conditions.ts";
import type {
  BackAnswer,
  EqualVersions,
  FolderAnswer,
  FolderCommit,
  ManyCommitted,
  RestoreFolder,
  Undecided,
  Undo,
} from "../ports/commit_many.ts";
import type { Segment } from "../ports/segments.ts";
import { readSegments, type SegmentSource } from "./read_segments.ts";
import type { Metadata } from "../ports/metadata.ts";

const NO_BYTES: Uint8Array = new Uint8Array();

/** What such a commit uses. */
export interface ManyCommitter extends SegmentSource {
  readonly gate: Pick<Gate, "caller" | "unwrap" | "provenance">;
  readonly metadata: Pick<Metadata, "commitFolder" | "commitBack" | "plan">;
  /** Called after each commit. */
  readonly onCommit: () => void;
}

/** Commits a folder. Throws the refusal. */
export async function commitMany(
  { gate, metadata, onCommit }: ManyCommitter,
  key: string | undefined,
  commit: FolderCommit,
): Promise<ManyCommitted<FolderAnswer>> {
  const basis = { commitId: crypto.randomUUID(), idempotency: await once(key, commit.path, commit) };
  const committed = gate.unwrap(await metadata.commitFolder(gate.caller, { ...commit, ...basis }));
  onCommit();
  return committed;
}

/** Commits an undo or restore, which is a run itself: the request's, or a new one. Throws the refusal. */
export async function commitBack(
  committer: ManyCommitter,
  key: string | undefined,
  commit: Undo | RestoreFolder,
): Promise<ManyCommitted<BackAnswer>> {
  const { gate, metadata, onCommit } = committer;
  const basis = { commitId: crypto.randomUUID(), idempotency: await once(key, "", commit) };
  gate.provenance = { runId: crypto.randomUUID(), ...definedOf(gate.provenance) };
  let committed = gate.unwrap(await metadata.commitBack(gate.caller, { ...commit, ...basis }));
  if ("undecided" in committed) {
    const equal = await equalOf(committer, committed);
    committed = gate.unwrap(await metadata.commitBack(gate.caller, { ...commit, ...basis, equal }));
  }
  if ("undecided" in committed) throw new Error("the versions were compared");
  onCommit();
  return committed;
}

/** What `commitBack` would do now. Throws the refusal. */
export async function planBack(committer: ManyCommitter, commit: Undo | RestoreFolder): Promise<BackAnswer> {
  const { gate, metadata } = committer;
  let plan = gate.unwrap(await metadata.plan(gate.caller, commit));
  if ("undecided" in plan) {
    const equal = await equalOf(committer, plan);
    plan = gate.unwrap(await metadata.plan(gate.caller, { ...commit, equal }));
  }
  if ("undecided" in plan) throw new Error("the versions were compared");
  return plan;
}

async function equalOf(source: SegmentSource, { undecided }: Undecided): Promise<EqualVersions[]> {
  const equal: EqualVersions[] = [];
  for (const { path, from, to, segments, otherSegments } of undecided) {
    if (await isSame(source, segments, otherSegments)) equal.push({ path, from, to });
  }
  return equal;
}

/** Whether two lists of segments hold the same bytes. */
async function isSame(
  source: SegmentSource,
  segments: readonly Segment[],
  otherSegments: readonly Segment[],
): Promise<boolean> {
  const others = readSegments(source, otherSegments);
  let other: Uint8Array = NO_BYTES;
  for await (let bytes of readSegments(source, segments)) {
    while (bytes.length > 0) {
      if (other.length === 0) other = (await others.next()).value ?? NO_BYTES;
      const length = Math.min(bytes.length, other.length);
      if (length === 0) return false;
      for (let index = 0; index < length; index++) if (bytes[index] !== other[index]) return false;
      bytes = bytes.subarray(length);
      other = other.subarray(length);
    }
  }
  return other.length === 0 && (await others.next()).done === true;
}

function definedOf(provenance: Gate["provenance"]): NonNullable<Gate["provenance"]> {
  return Object.fromEntries(Object.entries(provenance ?? {}).filter(([, value]) => value !== undefined));
}

function once(key: string | undefined, path: string, commit: { readonly kind: string }) {
  return idempotency(key, commit.kind, path, commit);
}
