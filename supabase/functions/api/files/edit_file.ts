/** Editing a file: the version that was read is edited and committed against, and read again if the file has moved on. */
import type { Gate } from "../auth/gate.ts";
import { isMatched } from "../http/conditions.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Piece } from "./rewrite.ts";
import { ERRORS, fail } from "../errors.ts";
import { EDIT_CONFLICT_TRIES_MAX } from "../limits.ts";
import type { Answer } from "../ports/answer.ts";
import type { Committed } from "../ports/commit.ts";
import type { Content, EditBase } from "../ports/files.ts";
import { type Committer, throwCommitRefusal, tryCommit } from "./commit.ts";
import { commitBasis, type CommitRequest } from "./commit_request.ts";
import { diffTexts, ensureDiffable, readSide } from "./diff.ts";
import { type Edit, TextEditor } from "./edit_text.ts";
import { isBinary } from "./presentation.ts";
import { ensureWithinTier } from "./file_size_limit.ts";

export interface EditContext extends Committer {
  readonly gate: Gate;
  readonly metadata: Pick<Metadata, "editBase" | "commit" | "compact">;
}

export interface EditRequest extends CommitRequest {
  readonly edits: readonly Edit[];
}

/**
 * Edits the latest version, and again if the file moves on meanwhile. `first` is the answer to reading the file, if it
 * was read already. Throws the refusals of the contract.
 */
export async function editFile(
  context: EditContext,
  request: EditRequest,
  first: Answer<EditBase> | undefined,
): Promise<Committed> {
  const { gate, metadata } = context;
  const { path, edits } = request;
  const basis = await commitBasis(request, "edit", edits);
  const readBase = () => metadata.editBase(gate.caller, path, basis.idempotency);
  let answer = first ?? await readBase();
  for (let tries = 1;; tries++) {
    const base = gate.unwrap(answer);
    if ("storedResponse" in base) return { file: base.storedResponse, segments: null, isReplayed: true };
    const editor = openEditor(context, base, request, (sizeBytes) => ensureWithinTier(gate, sizeBytes));
    const { replacements, segmentIds, segments } = await applyEdits(editor, edits);
    const commit = {
      kind: "edit",
      ...basis,
      commitId: crypto.randomUUID(),
      segments,
      baseVersion: base.file.version,
      segmentIds,
      extra: { replacements },
    } as const;
    const result = await tryCommit(context, commit);
    if ("committed" in result) return result.committed;
    const mayTryAgain = result.refusal.code === "VERSION_CONFLICT" && tries < EDIT_CONFLICT_TRIES_MAX;
    if (!mayTryAgain) throwCommitRefusal(context, commit, result.refusal);
    answer = await readBase();
  }
}

/** Applies and stores. A failure leaves nothing behind. */
async function applyEdits(editor: TextEditor, edits: readonly Edit[]) {
  try {
    const { replacements } = await editor.apply(edits);
    return { replacements, ...await editor.store() };
  } catch (error) {
    await editor.discard();
    throw error;
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
  const editor = openEditor(context, base, request, (sizeBytes) => {
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
  checkSize: (sizeBytes: number) => void,
): TextEditor {
  const { version } = base.file;
  if (!isMatched(request, base.file)) {
    fail("PRECONDITION_FAILED", ERRORS.PRECONDITION_FAILED.message, { version });
  }
  if (isBinary(base)) fail("NOT_TEXT", "The file is not text, so it cannot be edited.", { version });
  return new TextEditor(context, base.segments, version, checkSize);
}

async function decodePieces({ segments }: EditContext, pieces: readonly Piece[]): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for (const piece of pieces) {
    text += decoder.decode(piece.kind === "new" ? piece.bytes : await segments.get(piece.segment));
  }
  return text;
}
