/**
 * Edits a file. The edits are applied to the version that was read, and committed on condition that it is still the
 * latest; if it is not, the file is read again. The edits of one isolate wait in a queue, so that they do not conflict.
 */
import type { Gate } from "../auth/gate.ts";
import type { FileRecord } from "../contract/files.ts";
import { ApiError, ERRORS, fail, messageOf } from "../errors.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Piece } from "./rewrite.ts";
import type { Answer } from "../ports/answer.ts";
import type { CommitBasis, Committed, Preconditions } from "../ports/commit.ts";
import type { Content, EditBase } from "../ports/files.ts";
import type { Segment } from "../ports/segments.ts";
import { commitBasis, type CommitRequest, type Committer, throwCommitRefusal, tryCommit } from "./commit.ts";
import { diffTexts, ensureDiffable, readSide } from "./diff.ts";
import { type Edit, editWork, TextEditor } from "./edit_text.ts";
import { ensureEditable } from "./presentation.ts";
import { fileKey } from "./upload.ts";
import { sha256Hex } from "../runtime/bytes.ts";
import type { Slots } from "../runtime/slots.ts";
import { Work } from "../runtime/work.ts";
import { mayTryAgainAfterPause } from "./conflict_pause.ts";

/** Units of work for each character that is escaped, encoded and hashed. */
const FINGERPRINT_UNITS = 6;

export interface EditContext extends Committer {
  readonly gate: Gate;
  readonly metadata: Pick<Metadata, "editBase" | "commit" | "compact">;
  /** One slot for each file. */
  readonly editSlots: Slots;
  readonly request: { readonly signal: AbortSignal };
}

export interface EditRequest extends CommitRequest {
  readonly edits: readonly Edit[];
}

/** The content of a new version. Its new segments are stored. */
export interface Change {
  readonly segments: readonly Segment[];
  /** The segments of the whole new content, in order. */
  readonly segmentIds: readonly string[];
  /** Fields that the answer has in addition to the record's. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A change that depends on the file's content, and is computed again after a conflict. */
export interface Changing {
  readonly request: CommitRequest;
  /** Distinguishes this request, together with the path, from others with the same Idempotency-Key. */
  readonly fingerprint: unknown;
  readonly change: (base: Content, work: Work) => Promise<Change>;
}

/** Edits the latest version. `first` is the database's answer if the file was read already. Throws refusals. */
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
      const checkSize = (sizeBytes: number) => gate.ensureWithinTier(sizeBytes);
      const editor = openEditor(context, base, request, work, checkSize);
      const { replacements, ...stored } = await editor.make(request.edits);
      return { ...stored, extra: { replacements } };
    },
  };
  return await changeFile(context, changing, first);
}

/** Changes the latest version. Tries again after a conflict until the deadline; then throws VERSION_CONFLICT. */
export async function changeFile(
  context: EditContext,
  changing: Changing,
  first: Answer<EditBase> | undefined,
): Promise<Committed> {
  const { gate, metadata, editSlots } = context;
  const { path } = changing.request;
  const basis = await commitBasis(changing.request, "edit", changing.fingerprint);
  // If the isolate does not know the key, it does not know the file's project either.
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

/** Fingerprints of the edits, by which two requests differ. Computed one by one: they may be 20 million characters. */
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
    // The work bound applies to all tries of a request together.
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
    gate.ensureWithinTier(sizeBytes);
    ensureDiffable(sizeBytes);
  });
  ensureDiffable(side.size);
  const { pieces, replacements } = await editor.apply(request.edits);
  const before = await readSide(context, side);
  const diff = await diffTexts(request.path, before, await decodePieces(context, pieces));
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

/**
 * Checks the preconditions against a file that was read, before any content is stored; the commit checks them again.
 * Throws FILE_ALREADY_EXISTS (412) and PRECONDITION_FAILED.
 */
export function ensurePreconditions(
  { ifMatch, ifVersion }: Preconditions,
  { id, version }: FileRecord,
): void {
  if (ifVersion === 0) {
    const { message } = ERRORS.FILE_ALREADY_EXISTS;
    throw new ApiError("FILE_ALREADY_EXISTS", message, { version }, undefined, 412);
  }
  const isMatched = !ifMatch || ifMatch.includes("*") || ifMatch.includes(`${id}.${version}`);
  if (isMatched && (ifVersion === undefined || ifVersion === version)) return;
  fail("PRECONDITION_FAILED", messageOf("PRECONDITION_FAILED", { version }), { version });
}

async function decodePieces({ segments }: EditContext, pieces: readonly Piece[]): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for (const piece of pieces) {
    text += decoder.decode(piece.kind === "new" ? piece.bytes : await segments.get(piece.segment));
  }
  return text;
}
