/** Editing a file: what was read is edited and committed against, and read again where it has moved on. */
import { idempotency, isMatched } from "../http/conditions.ts";
import type { Context } from "../context.ts";
import type { Piece } from "./rewrite.ts";
import { fail } from "../errors.ts";
import { EDIT_CONFLICT_TRIES_MAX } from "../limits.ts";
import type { Answer } from "../ports/answer.ts";
import type { Committed, Preconditions } from "../ports/commit.ts";
import type { Content, EditBase } from "../ports/files.ts";
import { refuse, tryCommit } from "./commit.ts";
import { diffTexts, refuseTooLargeToDiff, textOf } from "./diff.ts";
import { type Edit, TextEditor } from "./edit_text.ts";
import { isBinary } from "./presentation.ts";
import { refuseOverTier } from "./file_size_limit.ts";

/** What one request asks for. */
export interface EditRequest extends Preconditions {
  readonly path: string;
  readonly edits: readonly Edit[];
  readonly idempotencyKey: string | undefined;
}

/**
 * Edits the latest version; one that has moved on meanwhile is read and edited again. `first` is the file as it was
 * read already, if it was. Throws the refusals of the contract.
 */
export async function editFile(
  context: Context,
  request: EditRequest,
  first: Answer<EditBase> | undefined,
): Promise<Committed> {
  const { gate, metadata } = context;
  const { path, edits, ifMatch } = request;
  const once = await idempotency(request.idempotencyKey, "edit", path, edits);
  let answer = first ?? await metadata.editBase(gate.caller, path, once);
  for (let tries = 1;; tries++) {
    const base = gate.take(answer);
    if ("storedResponse" in base) return { file: base.storedResponse, segments: null, isReplayed: true };
    const editor = editorOf(context, base, request, (sizeBytes) => refuseOverTier(gate, sizeBytes));
    const { replacements, rope, segments } = await applied(editor, edits);
    const commit = {
      kind: "edit",
      path,
      commitId: crypto.randomUUID(),
      segments,
      baseVersion: base.file.version,
      segmentIds: rope,
      ifMatch,
      idempotency: once,
      extra: { replacements },
    } as const;
    const result = await tryCommit(context, commit);
    if ("committed" in result) return result.committed;
    const mayTryAgain = result.refusal.code === "VERSION_CONFLICT" && tries < EDIT_CONFLICT_TRIES_MAX;
    if (!mayTryAgain) refuse(context, commit, result.refusal);
    answer = await metadata.editBase(gate.caller, path, once);
  }
}

/** Applies and stores. What fails on the way leaves nothing behind. */
async function applied(editor: TextEditor, edits: readonly Edit[]) {
  try {
    const { replacements } = await editor.apply(edits);
    return { replacements, ...await editor.store() };
  } catch (error) {
    await editor.discard();
    throw error;
  }
}

/** What the edits would do to the latest version: its diff. Makes no version and stores nothing. */
export async function previewEdit(
  context: Context,
  request: EditRequest,
  first: Answer<EditBase> | undefined,
) {
  const { gate, metadata } = context;
  const base = gate.take(first ?? await metadata.editBase(gate.caller, request.path, undefined));
  if ("storedResponse" in base) throw new Error("a preview has no stored response");
  const side = { ...base.file, segments: base.segments };
  const editor = editorOf(context, base, request, (sizeBytes) => {
    refuseOverTier(gate, sizeBytes);
    refuseTooLargeToDiff(sizeBytes);
  });
  refuseTooLargeToDiff(side.size);
  const { pieces, replacements } = await editor.apply(request.edits);
  const diff = await diffTexts(
    request.path,
    await textOf(context, side),
    await textOfPieces(context, pieces),
  );
  return { ...base.file, replacements, dryRun: true, ...diff };
}

function editorOf(
  context: Context,
  base: Content,
  request: EditRequest,
  checkSize: (sizeBytes: number) => void,
): TextEditor {
  const { version } = base.file;
  if (!isMatched(request, base.file)) {
    fail("PRECONDITION_FAILED", "The file is not at the version that the precondition names.", { version });
  }
  if (isBinary(base)) fail("NOT_TEXT", "The file is not text, so it cannot be edited.", { version });
  return new TextEditor(context, base.segments, version, checkSize);
}

async function textOfPieces(context: Context, pieces: readonly Piece[]): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for (const piece of pieces) {
    text += decoder.decode(piece.kind === "new" ? piece.bytes : await context.segments.get(piece.segment));
  }
  return text;
}
