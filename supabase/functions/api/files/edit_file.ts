/**
 * Editing a file, one edit after the other. The version that was read is edited and committed against; what is appended
 * meanwhile is kept, and if the file was rewritten it is read again.
 */
import type { Gate } from "../auth/gate.ts";
import { ensurePreconditions } from "../http/conditions.ts";
import type { Metadata } from "../ports/metadata.ts";
import type { Piece } from "./rewrite.ts";
import { unavailable } from "../errors.ts";
import { EDIT_CONFLICT_TRIES_MAX, EDIT_TURN_POLL_MILLISECONDS } from "../limits.ts";
import type { Answer } from "../ports/answer.ts";
import type { Committed, Idempotency } from "../ports/commit.ts";
import type { Content, EditBase } from "../ports/files.ts";
import type { Segment } from "../ports/segments.ts";
import { type Committer, fileKey, throwCommitRefusal, tryCommit } from "./commit.ts";
import { type CommitBasis, commitBasis, type CommitRequest } from "./commit_request.ts";
import { diffTexts, ensureDiffable, readSide } from "./diff.ts";
import { type Edit, editWork, TextEditor } from "./edit_text.ts";
import type { EditTurns } from "./edit_turns.ts";
import { ensureEditable } from "./presentation.ts";
import { ensureWithinTier } from "./file_size_limit.ts";
import { sha256Hex } from "../runtime/sha256.ts";
import { Work } from "../runtime/work.ts";

/** Units of work for each character that is escaped, encoded and hashed. */
const FINGERPRINT_UNITS = 6;

export interface EditContext extends Committer {
  readonly gate: Gate;
  readonly metadata: Pick<Metadata, "editBase" | "editTurn" | "endEditTurn" | "commit" | "compact">;
  readonly editTurns: EditTurns;
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

/**
 * Changes the latest version, when it is this change's turn, and again if the file is rewritten meanwhile all the same.
 * What is appended meanwhile is kept.
 */
export async function changeFile(
  context: EditContext,
  changing: Changing,
  first: Answer<EditBase> | undefined,
): Promise<Committed> {
  const { gate, metadata, editTurns } = context;
  const { path } = changing.request;
  const basis = await commitBasis(changing.request, "edit", changing.fingerprint);
  // With a key that the isolate does not know, the file's project is not known either.
  const known = gate.grant ? first : first ?? await metadata.editBase(gate.caller, path, basis.idempotency);
  if (known) gate.unwrap(known);
  const file = fileKey(context, path);
  const isFirst = !editTurns.isBusy(file);
  const endTurn = await editTurns.take(file, context.deadline, context.request.signal);
  const shared = new SharedTurn(context, path, file);
  const isUsable = isFirst && known && !SharedTurn.isNeeded(known);
  try {
    return await changeInTurn(context, changing, basis, shared, isUsable ? known : undefined);
  } finally {
    await shared.handOn();
    endTurn();
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

async function changeInTurn(
  context: EditContext,
  { change }: Changing,
  basis: CommitBasis,
  shared: SharedTurn,
  known: Answer<EditBase> | undefined,
): Promise<Committed> {
  const { gate } = context;
  const work = editWork();
  for (let tries = 1;; tries++) {
    const unitsBefore = work.units;
    const isKnown = known !== undefined && tries === 1;
    const base = gate.unwrap(isKnown ? known : await shared.readBase(basis.idempotency));
    if ("storedResponse" in base) return { file: base.storedResponse, segments: null, isReplayed: true };
    const commit = {
      kind: "edit",
      ...basis,
      ...await change(base, work),
      commitId: crypto.randomUUID(),
      baseFileId: base.file.id,
      baseVersion: base.file.version,
      baseSegmentIds: base.segments.map(({ id }) => id),
    } as const;
    const result = await tryCommit(context, commit);
    if ("committed" in result) return result.committed;
    // All tries together are one request's work.
    const mayTryAgain = result.refusal.code === "VERSION_CONFLICT" && tries < EDIT_CONFLICT_TRIES_MAX &&
      !work.exceedsWith(work.units - unitsBefore);
    if (!mayTryAgain) throwCommitRefusal(context, commit, result.refusal);
    shared.meetOthers();
  }
}

/** One edit's turn among those of all isolates, which the database gives where they are known to meet. */
class SharedTurn {
  private holder: string | undefined;

  constructor(
    private readonly context: EditContext,
    private readonly path: string,
    /** Its key among the files of all projects. */
    private readonly file: string,
  ) {}

  meetOthers(): void {
    this.context.editTurns.meetOthers(this.file, this.context.now());
  }

  static isNeeded(read: Answer<EditBase>): boolean {
    return read.ok && "takesTurns" in read.value && read.value.takesTurns === true;
  }

  /** Reads the file, once it is this isolate's turn. Throws 503 where that takes too long. */
  async readBase(idempotency: Idempotency | undefined): Promise<Answer<EditBase>> {
    const { context: { gate, metadata, editTurns, deadline, now }, path } = this;
    this.holder = editTurns.holder(this.file, now()) ?? this.holder;
    if (this.holder === undefined) {
      const answer = await metadata.editBase(gate.caller, path, idempotency);
      if (!SharedTurn.isNeeded(answer)) return answer;
      this.meetOthers();
      this.holder = editTurns.holder(this.file, now());
      if (this.holder === undefined) return answer;
    }
    for (;;) {
      const answer = gate.observe(await metadata.editTurn(gate.caller, path, this.holder, idempotency));
      if (!answer.ok) return answer;
      if (!("isTaken" in answer.value)) return { ...answer, value: answer.value };
      this.meetOthers();
      if (deadline.remainingMilliseconds <= 0) throw unavailable("Others are editing this file. Try again.");
      await deadline.count(() => deadline.pause(EDIT_TURN_POLL_MILLISECONDS));
    }
  }

  /** Whether the edit was made or not. If this fails, the turn expires. */
  async handOn(): Promise<void> {
    const { context: { gate, metadata, editTurns }, path } = this;
    if (this.holder === undefined || !editTurns.isOver(this.file)) return;
    await metadata.endEditTurn(gate.caller, path, this.holder).catch(() => {});
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
