/** Several operations as one commit, all or none. Each edit applies to the result of the operations before it. */
import type { Gate } from "../auth/gate.ts";
import { ApiError } from "../errors.ts";
import { idempotency } from "../http/conditions.ts";
import {
  BATCH_UPLOADS_AT_ONCE,
  COSTLY_REST_MILLISECONDS,
  OPERATIONS_PER_REQUEST,
  WORK_UNITS_PER_REQUEST,
} from "../limits.ts";
import type { Answer, Refusal } from "../ports/answer.ts";
import type { BatchCommitted, BatchOperation } from "../ports/commit.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Segment } from "../ports/segments.ts";
import { inParallel } from "../runtime/in_parallel.ts";
import { sha256Hex } from "../runtime/bytes.ts";
import type { ReleaseSlot } from "../runtime/slots.ts";
import { Work } from "../runtime/work.ts";
import type { Committer } from "./commit.ts";
import { type Edit, editWork, TextEditor } from "./edit_text.ts";
import { detectMediaType } from "../contract/media_types.ts";
import { ensureEditable } from "./presentation.ts";
import { mayTryAgainAfterPause } from "./conflict_pause.ts";
import { discard, fullSegmentList, storeContent } from "./upload.ts";

/** One operation, as the client sent it. */
export type Operation =
  & { readonly path: string; readonly ifVersion?: number | undefined }
  & (
    | { readonly kind: "write"; readonly content: Uint8Array; readonly contentType?: string | undefined }
    | { readonly kind: "overwrite" | "append"; readonly content: Uint8Array }
    | { readonly kind: "edit"; readonly edits: readonly Edit[] }
    | { readonly kind: "delete" }
    | { readonly kind: "restore"; readonly version: number }
    | { readonly kind: "copy" | "move"; readonly destination: string; readonly overwrite: boolean }
  );

export interface BatchContext extends Committer {
  readonly gate: Gate;
  readonly metadata: Pick<Metadata, "commitBatch" | "compact" | "commit" | "content">;
  readonly beginCostly: () => Promise<ReleaseSlot>;
  readonly onEnd: (release: () => void) => void;
}

/** The state of a path after some operations: its latest version, 0 for none, and its content. */
interface State {
  readonly version: number;
  readonly live: { readonly segments: readonly Segment[]; readonly mimeType: string } | null;
}

/** The refusal of an edit that does not apply to the content. */
const FAILED: Refusal = { code: "VERSION_CONFLICT", details: { failed: true } };
/** The refusals of reading a path or one of its versions. */
const MISSING: readonly Refusal["code"][] = ["FILE_NOT_FOUND", "VERSION_NOT_FOUND", "VERSION_REDACTED"];

/** The number of requests as which the window counts a commit of this many files or operations. */
export function requestsOf(operations: number): number {
  return Math.max(1, Math.ceil(operations / OPERATIONS_PER_REQUEST));
}

/**
 * Commits the operations. Throws the refusal of the first operation that fails, with `details.index`; then it changes
 * nothing, and leaves nothing in Storage.
 */
export async function commitBatch(
  context: BatchContext,
  operations: readonly Operation[],
  idempotencyKey: string | undefined,
): Promise<BatchCommitted> {
  const once = await idempotency(idempotencyKey, "batch", "", await fingerprints(operations, idempotencyKey));
  // A batch that reads before its commit counts by the bytes that it reads.
  const needsReading = operations.some(({ kind }) => kind === "edit");
  if (needsReading) {
    context.onEnd(await context.beginCostly());
    await context.gate.count(requestsOf(operations.length));
  }
  const batch = new OpenBatch(context, operations);
  let isLost = false;
  try {
    for (let tries = 1;; tries++) {
      const answer = await batch.commit(once);
      isLost ||= answer.isAmbiguous;
      if (answer.ok) {
        // The replayed commit may be an earlier try of this request whose answer was lost.
        if (!answer.value.isReplayed) context.onCommit();
        else if (!isLost) await batch.discard();
        return answer.value;
      }
      const { refusal } = answer;
      if (isLost || !await batch.mayTryAgain(refusal, tries)) return batch.refuse(refusal);
    }
  } catch (error) {
    // Keeps the segments where a commit whose answer was lost may reference them.
    if (!isLost && !(error instanceof ApiError && error.status === 503)) await batch.discard();
    throw error;
  } finally {
    context.gate.addWork(batch.work.units / WORK_UNITS_PER_REQUEST);
  }
}

/** Fingerprints of the operations, by which two requests differ. Computed one by one: they may be 10 million characters. */
async function fingerprints(
  operations: readonly Operation[],
  idempotencyKey: string | undefined,
): Promise<string[]> {
  if (idempotencyKey === undefined) return [];
  const sums: string[] = [];
  for (const operation of operations) {
    const content = "content" in operation ? await sha256Hex(operation.content) : undefined;
    sums.push(await sha256Hex(new TextEncoder().encode(JSON.stringify({ ...operation, content }))));
  }
  return sums;
}

class OpenBatch {
  /** The stored segments of the operations with content, by index. */
  private stored: readonly (readonly Segment[])[] | undefined;
  /** The segments of the edits of the latest try, by index. */
  private edited: Segment[][] = [];
  /** The states of paths after operations of this try, by index and path. */
  private readonly states = new Map<string, State>();
  private readonly read = new Map<string, State>();
  readonly work: Work = editWork(COSTLY_REST_MILLISECONDS);
  /** The error of the edit that ended the latest try. */
  private failure: ApiError | undefined;

  constructor(private readonly context: BatchContext, private readonly operations: readonly Operation[]) {}

  /** Stores the content unless that is done, applies the edits, and commits. */
  async commit(once: Awaited<ReturnType<typeof idempotency>>): Promise<Answer<BatchCommitted>> {
    const { gate, metadata } = this.context;
    this.stored ??= await this.store();
    this.failure = undefined;
    this.states.clear();
    this.read.clear();
    const operations: BatchOperation[] = [];
    for (let index = 0; index < this.operations.length && this.failure === undefined; index++) {
      operations.push(await this.prepare(index));
    }
    const batch = { commitId: crypto.randomUUID(), idempotency: once, operations };
    const requests = requestsOf(this.operations.length);
    return gate.observe(await metadata.commitBatch(gate.caller, batch, requests));
  }

  /** Whether another try may succeed. Removes the segments that only this try stored. */
  async mayTryAgain({ code, details, segments }: Refusal, tries: number): Promise<boolean> {
    const { context } = this;
    const isStale = code === "VERSION_CONFLICT" && details["failed"] !== true;
    if (code !== "SEGMENT_LIST_FULL" && !isStale) return false;
    if (!await mayTryAgainAfterPause(context.deadline, tries)) return false;
    await discard(context.segments, this.edited.splice(0).flat());
    if (!isStale) await this.makeRoom(Number(details["index"]), segments ?? []);
    return true;
  }

  /** Compacts the full segment list that an append found, without the segments that the batch itself adds. */
  private async makeRoom(index: number, full: readonly Segment[]): Promise<void> {
    const own = new Set(this.stored?.flat().map(({ id }) => id));
    const before = full.filter(({ id }) => !own.has(id));
    const path = this.operations[index]?.path ?? "";
    if (!await this.context.inFlightCompactions.makeRoom(this.context, path, before)) throw fullSegmentList();
  }

  refuse(refusal: Refusal): never {
    const { gate } = this.context;
    const { failed, ...details } = refusal.details;
    const { index } = details;
    if (failed === true && this.failure) {
      throw new ApiError(this.failure.code, this.failure.message, { ...this.failure.details, index });
    }
    const operation = typeof index === "number" ? this.operations[index] : undefined;
    const wasCondition = refusal.code === "FILE_ALREADY_EXISTS" && operation?.ifVersion === 0;
    return gate.throwRefusal({ ...refusal, details }, wasCondition ? 412 : undefined);
  }

  async discard(): Promise<void> {
    await discard(this.context.segments, [...this.stored ?? [], ...this.edited].flat());
  }

  /** Stores the content of all operations. If one fails, it removes the others. */
  private async store(): Promise<readonly (readonly Segment[])[]> {
    const stored: (readonly Segment[])[] = this.operations.map(() => []);
    const withContent = [...this.operations.entries()].filter(([, operation]) => "content" in operation);
    try {
      await inParallel(withContent, BATCH_UPLOADS_AT_ONCE, async ([index, operation]) => {
        if (!("content" in operation)) return;
        const { content } = operation;
        refuseAt(index, () => this.context.gate.ensureWithinTier(content.length));
        // A copy, since `storeContent` frees the bytes that it is given.
        if (content.length > 0) stored[index] = await storeContent(this.context, [content.slice()]);
      });
    } catch (error) {
      await discard(this.context.segments, stored.flat());
      throw error;
    }
    return stored;
  }

  /** The operation for the database, which refuses an edit that fails here in its place. */
  private async prepare(index: number): Promise<BatchOperation> {
    const operation = this.operations[index];
    if (!operation) throw new RangeError(`there is no operation ${index}`);
    const { path, ifVersion } = operation;
    const segments = this.stored?.[index] ?? [];
    switch (operation.kind) {
      case "write":
        return { kind: "write", path, ifVersion, segments, mimeType: typeOf(operation, segments) };
      case "overwrite":
      case "append":
        return { kind: operation.kind, path, ifVersion, segments };
      case "edit":
        return { path, ifVersion, ...await this.edit(index, path, operation.edits) };
      default:
        return operation;
    }
  }

  private async edit(index: number, path: string, edits: readonly Edit[]) {
    const { live: base, version } = await this.stateAt(path, index);
    const baseSegmentIds = base?.segments.map(({ id }) => id) ?? [];
    const unchanged = { kind: "edit", segments: [], baseSegmentIds, segmentIds: baseSegmentIds } as const;
    // The database knows whether the file is still missing.
    if (!base) return unchanged;
    try {
      ensureEditable({ file: base, segments: base.segments }, version);
      const checkSize = (sizeBytes: number) => this.context.gate.ensureWithinTier(sizeBytes);
      const editor = new TextEditor(this.context, base.segments, version, checkSize, this.work);
      const { replacements, segments, segmentIds } = await editor.make(edits);
      this.edited.push(segments);
      const known = new Map([...base.segments, ...segments].map((segment) => [segment.id, segment]));
      const all = segmentIds.flatMap((id) => known.get(id) ?? []);
      const live = { segments: all, mimeType: base.mimeType };
      this.states.set(`${index}:${path}`, { live, version: version + 1 });
      return { kind: "edit", segments, baseSegmentIds, segmentIds, extra: { replacements } } as const;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      this.failure = error;
      return { ...unchanged, failure: FAILED };
    }
  }

  /** The state of a path after the operations before `end`. */
  private async stateAt(path: string, end: number): Promise<State> {
    for (let index = end - 1; index >= 0; index--) {
      const operation = this.operations[index];
      if (operation && touches(operation, path)) return await this.stateAfter(index, operation, path);
    }
    return await this.current(path);
  }

  private async stateAfter(index: number, operation: Operation, path: string): Promise<State> {
    // Remembered, since a copy needs the states of two paths: along a chain of copies the work would grow exponentially.
    const name = `${index}:${path}`;
    const known = this.states.get(name);
    if (known) return known;
    const before = await this.stateAt(path, index);
    const live = await this.contentAfter(index, operation, path, before.live);
    const state = { version: before.version + 1, live };
    this.states.set(name, state);
    return state;
  }

  /** The content of a version of a path, which the operations before `end` may have added. */
  private async versionAt(path: string, version: number, end: number): Promise<State["live"]> {
    for (let index = end - 1; index >= 0; index--) {
      const operation = this.operations[index];
      if (!operation || !touches(operation, path)) continue;
      const state = await this.stateAfter(index, operation, path);
      if (state.version === version) return state.live;
      if (state.version < version) break;
    }
    return (await this.current(path, version)).live;
  }

  private async contentAfter(
    index: number,
    operation: Operation,
    path: string,
    before: State["live"],
  ): Promise<State["live"]> {
    const segments = this.stored?.[index] ?? [];
    switch (operation.kind) {
      case "write":
        return { segments, mimeType: typeOf(operation, segments) };
      case "overwrite":
        return before && { ...before, segments };
      case "append":
        return before && { ...before, segments: [...before.segments, ...segments] };
      case "restore":
        return await this.versionAt(path, operation.version, index);
      case "copy":
      case "move":
        return operation.destination === path ? (await this.stateAt(operation.path, index)).live : null;
      default:
        return null;
    }
  }

  /** The stored state of a path, before the batch. */
  private async current(path: string, version?: number): Promise<State> {
    const { gate, metadata } = this.context;
    const name = `${version ?? ""}:${path}`;
    const known = this.read.get(name);
    if (known !== undefined) return known;
    const answer = gate.observe(await metadata.content(gate.caller, path, version));
    let state: State;
    if (answer.ok) {
      const { file, segments } = answer.value;
      state = { version: file.version, live: { segments, mimeType: file.mimeType } };
    } else {
      // Where the path cannot be read, the database refuses an operation that needs its content.
      const { code, details } = answer.refusal;
      if (!MISSING.includes(code)) gate.throwRefusal(answer.refusal);
      state = { version: Number(details["deletedVersion"] ?? 0), live: null };
    }
    this.read.set(name, state);
    return state;
  }
}

function touches(operation: Operation, path: string): boolean {
  if ("destination" in operation && operation.destination === path) return true;
  return operation.path === path && operation.kind !== "copy";
}

function typeOf(
  { path, contentType }: { readonly path: string; readonly contentType?: string | undefined },
  segments: readonly Segment[],
): string {
  return contentType ?? detectMediaType(path, segments.every((segment) => segment.isText));
}

/** Adds the operation's index to an error that `check` throws. */
export function refuseAt<T>(index: number, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, error.message, { ...error.details, index });
  }
}
