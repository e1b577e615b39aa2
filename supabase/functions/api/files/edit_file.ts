/**
 * Editing a file. The version that was read is edited, and committed on condition that it is still the latest; if it is not,
 * the file is read again. The edits of one isolate queue, so that they do not overtake each other.
 */
import type { Gate } from "../auth/gate.ts";
import { ensurePreconditions } from "../http/conditions.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Piece } from "./rewrite.ts";
import type { Answer } from "../ports/answer.ts";
import type { Committed } from "../ports/commit.ts";
import type { Content, EditBase } from "../ports/files.ts";
import type { Segment } from "../ports/segments.ts";
import { type Committer, fileKey, throwCommitRefusal, tryCommit } from "./commit.ts";
import { type CommitBasis, commitBasis, type CommitRequest } from "./commit_request.ts";
import { diffTexts, ensureDiffable, readSide } from "./diff.ts";
import { type Edit, editWork, TextEditor } from "./edit_text.ts";
import { ensureEditable } from "./presentation.ts";
import { ensureWithinTier } from "./file_size_limit.ts";
import { sha256Hex } from "../runtime/sha256.ts";
import type { Slots } from "../runtime/slots.ts";
import { Work } from "../runtime/work.ts";
import { mayTryAgainAfterPause } from "./conflict_pause.ts";

/** Units of work for each character that is escaped, encoded and hashed. */
const FINGERPRINT_UNITS = 6;

export interface EditContext extends Committer {
  readonly gate: Gate;
  readonly metadata: Pick<Metadata, "editBase" | "commit" | "compact">;
  /** Of one at a time for each file. */
  readonly editSlots: Slots;
  readonly request: { readonly signal: AbortSignal };
}

export interface EditRequest extends CommitRequest {
  readonly edits: readonly Edit[];
}

/** What a version is to become. New segments are stored. */
export interface Change {
  readonly segments: readonly Segment[];
  /** Of the whole new content, in order. */
  readonly segmentIds: readonly string[];
  /** Returned with the record. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A change of a file that is made from what was read of it, and made again where others were quicker. */
export interface Changing {
  readonly request: CommitRequest;
  /** What, besides the path, tells this request from others with the same Idempotency-Key. */
  readonly fingerprint: unknown;
  readonly change: (base: Content, work: Work) => Promise<Change>;
}

/**
 * Edits the latest version. `first` is the answer to reading the file, if it was read already. Throws the refusals of the
 * contract.
 */
export async function editFile(
  context: EditContext,
  request: EditRequest,
  first: Answer<EditBase> | undefined,
): Promise<Committed> {
  const { gate } = context;
  const changing = {
    request,
    fingerprint: request.idempotencyKey && await fingerprints(request),
    change: async (base: Content, work: Work) => {
      const checkSize = (sizeBytes: number) => ensureWithinTier(gate, sizeBytes);
      const editor = openEditor(context, base, request, work, checkSize);
      const { replacements, ...stored } = await editor.make(request.edits);
      return { ...stored, extra: { replacements } };
    },
  };
  return await changeFile(context, changing, first);
}

/** Changes the latest version, and again where it was overtaken, until the deadline; then it is VERSION_CONFLICT. */
export async function changeFile(
  context: EditContext,
  changing: Changing,
  first: Answer<EditBase> | undefined,
): Promise<Committed> {
  const { gate, metadata, editSlots } = context;
  const { path } = changing.request;
  const basis = await commitBasis(changing.request, "edit", changing.fingerprint);
  // With a key that the isolate does not know, the file's project is not known either.
  const known = gate.grant ? first : first ?? await metadata.editBase(gate.caller, path, basis.idempotency);
  if (known) gate.unwrap(known);
  const file = fileKey(context, path);
  const isFirst = !editSlots.isBusy(file);
  const releaseSlot = await editSlots.acquire(file, context.deadline, context.request.signal);
  try {
    return await changeInSlot(context, changing, basis, isFirst ? known : undefined);
  } finally {
    releaseSlot();
  }
}

/** What tells two requests apart. Each edit by itself: all of them may be 20 million characters. */
async function fingerprints({ edits, ifVersion }: EditRequest): Promise<unknown[]> {
  const work = new Work();
  const sums: string[] = [];
  for (const edit of edits) {
    const { oldString, newString } = edit;
    if (work.add(FINGERPRINT_UNITS * (oldString.length + newString.length))) await work.pause();
    sums.push(await sha256Hex(new TextEncoder().encode(JSON.stringify(edit))));
  }
  return ifVersion === undefined ? sums : [...sums, ifVersion];
}

async function changeInSlot(
  context: EditContext,
  { request, change }: Changing,
  basis: CommitBasis,
  known: Answer<EditBase> | undefined,
): Promise<Committed> {
  const { gate, metadata } = context;
  const work = editWork();
  for (let tries = 1;; tries++) {
    const unitsBefore = work.units;
    const isKnown = known !== undefined && tries === 1;
    const read = isKnown ? known : await metadata.editBase(gate.caller, request.path, basis.idempotency);
    const base = gate.unwrap(read);
    if ("storedResponse" in base) return { file: base.storedResponse, segments: null, isReplayed: true };
    const commit = {
      kind: "edit",
      ...basis,
      ...await change(base, work),
      commitId: crypto.randomUUID(),
      baseFileId: base.file.id,
      baseVersion: base.file.version,
    } as const;
    const result = await tryCommit(context, commit);
    if ("committed" in result) return result.committed;
    // All tries together are one request's work.
    const mayTryAgain = result.refusal.code === "VERSION_CONFLICT" &&
      !work.exceedsWith(work.units - unitsBefore) && await mayTryAgainAfterPause(context.deadline, tries);
    if (!mayTryAgain) throwCommitRefusal(context, commit, result.refusal);
  }
}

/** The diff that the edits would make to the latest version. Creates no version and stores nothing. */
export async function previewEdit(
  context: EditContext,
  request: EditRequest,
  first: Answer<EditBase> | undefined,
) {
  const { gate, metadata } = context;
  const base = gate.unwrap(first ?? await metadata.editBase(gate.caller, request.path, undefined));
  if ("storedResponse" in base) throw new Error("a preview has no stored response");
  const side = { ...base.file, segments: base.segments };
  const work = editWork();
  const editor = openEditor(context, base, request, work, (sizeBytes) => {
    ensureWithinTier(gate, sizeBytes);
    ensureDiffable(sizeBytes);
  });
  ensureDiffable(side.size);
  const { pieces, replacements } = await editor.apply(request.edits);
  const diff = await diffTexts(
    request.path,
    await readSide(context, side),
    await decodePieces(context, pieces),
  );
  return { ...base.file, replacements, dryRun: true, ...diff };
}

function openEditor(
  context: EditContext,
  base: Content,
  request: EditRequest,
  work: Work,
  checkSize: (sizeBytes: number) => void,
): TextEditor {
  const { version } = base.file;
  ensurePreconditions(request, base.file);
  ensureEditable(base, version);
  return new TextEditor(context, base.segments, version, checkSize, work);
}

async function decodePieces({ segments }: EditContext, pieces: readonly Piece[]): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for (const piece of pieces) {
    text += decoder.decode(piece.kind === "new" ? piece.bytes : await segments.get(piece.segment));
  }
  return text;
}
