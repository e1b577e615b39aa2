/** Commits uploaded segments as a version. */
import type { Gate } from "../auth/gate.ts";
import type { Answer, Refusal } from "../ports/answer.ts";
import type { Commit, CommitBasis, Committed, Preconditions } from "../ports/commit.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Segment } from "../ports/segments.ts";
import type { Background } from "../runtime/background.ts";
import type { Deadline } from "../runtime/deadline.ts";
import type { Log } from "../runtime/log.ts";
import type { ReleaseSlot, Slots } from "../runtime/slots.ts";
import type { InFlightCompactions } from "./in_flight_compactions.ts";
import type { SegmentSource } from "./read_segments.ts";
import { discard, fileKey, fullSegmentList, type Uploader } from "./upload.ts";
import { idempotency, idempotencyKey, preconditions } from "../http/conditions.ts";
import type { RequestData } from "../http/request_data.ts";

/** The parts of a request that a commit uses: the database, and Storage for compactions. */
export interface Committer extends Uploader, SegmentSource {
  readonly gate: Pick<Gate, "grant" | "projectId" | "caller" | "observe" | "throwRefusal">;
  readonly metadata: Pick<Metadata, "commit" | "compact">;
  readonly inFlightCompactions: InFlightCompactions;
  /** Slots for commits to one file. More commits at a time would only wait in the database and hold its connections. */
  readonly commitSlots: Slots;
  readonly deadline: Deadline;
  readonly log: Pick<Log, "backgroundFault">;
  /** Called after each commit: indexing, and sometimes a slice of the sweep, follow the response. */
  readonly onCommit: () => void;
  readonly background: Background;
}

export type CommitResult = { readonly committed: Committed } | { readonly refusal: Refusal };

/**
 * Commits. If the file has too many segments, they are compacted after the response. Removes segments that the commit
 * certainly does not reference. If a try whose answer was lost may have committed them, they are left to the sweep.
 */
export async function tryCommit(committer: Committer, commit: Commit): Promise<CommitResult> {
  const { segments } = committer;
  const uploaded = "segments" in commit ? commit.segments : [];
  const releaseSlot = await acquireSlot(committer, commit.path).catch(async (error) => {
    await discard(segments, uploaded);
    throw error;
  });
  const answer = await commitInSlot(committer, commit).finally(releaseSlot);
  const isReferenced = answer.ok && !answer.value.isReplayed;
  if (!isReferenced && !answer.isAmbiguous) await discard(segments, uploaded);
  if (!answer.ok) {
    if (answer.refusal.code === "SEGMENT_LIST_FULL") throw fullSegmentList();
    return { refusal: answer.refusal };
  }
  committer.onCommit();
  const { segments: longList, file } = answer.value;
  if (longList) committer.inFlightCompactions.start(committer, file.path, longList);
  return { committed: answer.value };
}

/**
 * Takes a slot for commits to the file. A commit without content, such as a deletion, may be the key's first request to
 * the isolate: then the file's project is not known, and the commit needs no slot.
 */
async function acquireSlot(committer: Committer, path: string): Promise<ReleaseSlot> {
  const { gate, commitSlots, deadline } = committer;
  return gate.grant ? await commitSlots.acquire(fileKey(committer, path), deadline) : () => {};
}

/**
 * Commits once the segment list has room. In the meantime, other commits to the file wait, since they need room, too.
 */
async function commitInSlot(committer: Committer, commit: Commit): Promise<Answer<Committed>> {
  const { gate, metadata, inFlightCompactions, deadline } = committer;
  for (;;) {
    if (commit.kind === "append") await inFlightCompactions.room(committer, commit.path);
    const answer = gate.observe(await metadata.commit(gate.caller, commit));
    const isFull = !answer.ok && answer.refusal.code === "SEGMENT_LIST_FULL";
    // Appends of other isolates may use up the room.
    if (!isFull || deadline.remainingMilliseconds <= 0) return answer;
    const { segments = [] } = answer.refusal;
    if (!await inFlightCompactions.makeRoom(committer, commit.path, segments)) return answer;
  }
}

/** Commits. Throws the refusal. */
export async function commit(committer: Committer, commit: Commit): Promise<Committed> {
  const result = await tryCommit(committer, commit);
  if ("committed" in result) return result.committed;
  throwCommitRefusal(committer, commit, result.refusal);
}

/** Throws the refusal. FILE_ALREADY_EXISTS is 412 instead of 409 if the client required that the file does not exist. */
export function throwCommitRefusal({ gate }: Committer, commit: Commit, refusal: Refusal): never {
  const isCondition = commit.ifNoneMatch !== undefined || commit.ifVersion === 0;
  const wasCondition = refusal.code === "FILE_ALREADY_EXISTS" && isCondition;
  return gate.throwRefusal(refusal, wasCondition ? 412 : undefined);
}

/** The common parts of all requests that commit a version: path, preconditions, Idempotency-Key. */
export interface CommitRequest extends Preconditions {
  readonly path: string;
  readonly idempotencyKey: string | undefined;
}

/** Parses a request to an existing file. */
export function parseCommitRequest({ params, headers }: RequestData): CommitRequest {
  const key = idempotencyKey(headers);
  return { path: params.path, idempotencyKey: key, ...preconditions(headers, false) };
}

/** The request with the `ifVersion` of its JSON body. */
export function withVersion(
  request: CommitRequest,
  { ifVersion }: { readonly ifVersion?: number | null | undefined },
): CommitRequest {
  return { ...request, ifVersion: ifVersion ?? undefined };
}

/** Requests with one Idempotency-Key are the same if their `route`, path, `fields` and `content` are equal. */
export async function commitBasis(
  { path, idempotencyKey, ifMatch, ifNoneMatch, ifVersion }: CommitRequest,
  route: string,
  fields: unknown,
  content: readonly Pick<Segment, "sha256">[] = [],
): Promise<CommitBasis> {
  const once = await idempotency(idempotencyKey, route, path, fields, content);
  return { path, commitId: crypto.randomUUID(), ifMatch, ifNoneMatch, ifVersion, idempotency: once };
}
