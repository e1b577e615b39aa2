/**
 * Merges and updates of branches. The database decides about each file; where both sides have changed a text, it names
 * the three versions, whose lines are merged here, and the plan or the commit is tried again with the results.
 */
import type { MergeResult } from "../contract/branches.ts";
import { ApiError, ERRORS, fail } from "../errors.ts";
import { idempotency } from "../http/conditions.ts";
import { COSTLY_REST_MILLISECONDS, MERGE_UNITS_MAX, WORK_UNITS_PER_REQUEST } from "../limits.ts";
import type { Answer } from "../ports/answer.ts";
import {
  type ManyCommitted,
  type Merge,
  type MergedText,
  type Resolution,
  textsToMerge,
  type TextToMerge,
} from "../ports/commit.ts";
import { sha256Hex } from "../runtime/bytes.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Segment } from "../ports/segments.ts";
import { Work } from "../runtime/work.ts";
import type { Committer } from "./commit.ts";
import type { Gate } from "../auth/gate.ts";
import { mayTryAgainAfterPause } from "./conflict_pause.ts";
import { mergeLines } from "./merge_lines.ts";
import { readText, type SegmentSource } from "./read_segments.ts";
import { discard, storeContent } from "./upload.ts";

export interface MergeContext extends Committer {
  readonly gate: Gate;
  readonly metadata: Pick<Metadata, "planMerge" | "commitMerge" | "removeBranchFiles" | "commit" | "compact">;
}

/** A merge as the client requests it: with content that is not stored yet. */
export interface MergeRequest extends Omit<Merge, "texts" | "resolutions"> {
  readonly resolutions: ReadonlyMap<string, { readonly take: "branch" | "current" } | Uint8Array>;
}

export function mergeWork(): Work {
  return new Work(Infinity, undefined, COSTLY_REST_MILLISECONDS);
}

/** The texts that a request has merged, and the content of its resolutions. */
class MergedTexts {
  readonly byPath: Record<string, MergedText> = Object.create(null);
  readonly stored: Segment[] = [];
  readonly work = mergeWork();

  constructor(private readonly context: MergeContext, private readonly isStored: boolean) {}

  /** Merges the lines of the texts that a refusal names; false where it names none. */
  async add(answer: Answer<unknown>): Promise<boolean> {
    if (answer.ok || answer.refusal.code !== "TEXTS_TO_MERGE") return false;
    for (const text of textsToMerge.parse(answer.refusal.details).texts) {
      this.byPath[text.path] = await this.merge(text);
    }
    return true;
  }

  /** The merge with the content of its resolutions stored. */
  async resolve({ resolutions, ...merge }: MergeRequest): Promise<Merge> {
    const resolved: Record<string, Resolution> = Object.create(null);
    for (const [path, resolution] of resolutions) {
      resolved[path] = resolution instanceof Uint8Array
        ? { segments: await this.store(resolution) }
        : resolution;
    }
    return { ...merge, resolutions: resolved };
  }

  private async store(content: Uint8Array): Promise<Segment[]> {
    const segments = this.isStored ? await storeContent(this.context, [content]) : [];
    this.stored.push(...segments);
    return segments;
  }

  private async merge(text: TextToMerge): Promise<MergedText> {
    const { tag, mimeType } = text;
    const merged = await mergedText(this.context, text, this.work);
    if (merged === null) return { tag, isConflict: true };
    return { tag, mimeType, segments: await this.store(new TextEncoder().encode(merged)) };
  }
}

/** The merged text; null for a conflict, and where the texts of the request take too much work. */
export async function mergedText(
  context: SegmentSource,
  { base, branch, current }: TextToMerge,
  work: Work,
): Promise<string | null> {
  if (work.units > MERGE_UNITS_MAX) return null;
  const [old, ours, theirs] = [
    await readText(context, base),
    await readText(context, branch),
    await readText(context, current),
  ];
  return await mergeLines(old, ours, theirs, work);
}

/** Returns the steps that `commitMerge` would commit now. Throws the refusal. */
export async function planMerge(context: MergeContext, request: MergeRequest): Promise<MergeResult> {
  const { gate, metadata } = context;
  const texts = new MergedTexts(context, false);
  const merge = await texts.resolve(request);
  try {
    for (let tries = 1;; tries++) {
      const answer = gate.observe(await metadata.planMerge(gate.caller, { ...merge, texts: texts.byPath }));
      if (!await texts.add(answer)) return gate.unwrap(answer);
      await ensureMayTryAgain(context, tries);
    }
  } finally {
    gate.addWork(texts.work.units / WORK_UNITS_PER_REQUEST);
  }
}

/** Commits a merge, which has a run of its own: the request's, or a new one. Throws the refusal. */
export async function commitMerge(
  context: MergeContext,
  key: string | undefined,
  request: MergeRequest,
): Promise<ManyCommitted<MergeResult & { readonly isEnded: boolean }>> {
  const { gate, metadata, onCommit } = context;
  const once = await idempotency(key, request.kind, request.branch, key && await fingerprint(request));
  const basis = { commitId: crypto.randomUUID(), idempotency: once };
  gate.provenance = { ...gate.provenance, runId: gate.provenance?.runId ?? crypto.randomUUID() };
  const texts = new MergedTexts(context, true);
  let isLost = false;
  try {
    const merge = await texts.resolve(request);
    for (let tries = 1;; tries++) {
      const answer = gate.observe(
        await metadata.commitMerge(gate.caller, { ...merge, ...basis, texts: texts.byPath }),
      );
      isLost ||= answer.isAmbiguous;
      if (!await texts.add(answer)) {
        const committed = gate.unwrap(answer);
        onCommit();
        return committed;
      }
      await ensureMayTryAgain(context, tries);
    }
  } catch (error) {
    // Keeps the segments where a commit whose answer was lost may reference them.
    if (!isLost && !(error instanceof ApiError && error.status === 503)) {
      await discard(context.segments, texts.stored);
    }
    throw error;
  } finally {
    gate.addWork(texts.work.units / WORK_UNITS_PER_REQUEST);
  }
}

/** The request, with the checksums of its content. */
async function fingerprint({ resolutions, ...request }: MergeRequest): Promise<unknown> {
  const entries = [...resolutions].map(async ([path, resolution]) => [
    path,
    resolution instanceof Uint8Array ? await sha256Hex(resolution) : resolution.take,
  ]);
  return [request, await Promise.all(entries)];
}

/** The first tries merge texts; later ones find that others keep changing them. */
async function ensureMayTryAgain(context: MergeContext, tries: number): Promise<void> {
  if (tries === 1 || await mayTryAgainAfterPause(context.deadline, tries)) return;
  fail("VERSION_CONFLICT", ERRORS.VERSION_CONFLICT.message);
}

/** Deletes the files of a branch that has ended. If that fails, the sweep deletes the rest. */
export async function removeBranchFiles(
  { gate, metadata }: { readonly gate: Gate; readonly metadata: Pick<Metadata, "removeBranchFiles"> },
  name: string,
): Promise<void> {
  try {
    while (gate.unwrap(await metadata.removeBranchFiles(gate.caller, name))) { /* The next slice. */ }
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 503)) throw error;
  }
}
