/** Editing text: search in the stored segments, rewrite only those that change, commit against what was read. */
import type { Context } from "../context.ts";
import { countOccurrences, type Piece, rewrite } from "../domain/edit.ts";
import { nearMisses } from "../domain/near_misses.ts";
import { fail } from "../errors.ts";
import { EDIT_CONFLICT_TRIES_MAX } from "../limits.ts";
import type { Answer, Content, FileRecord } from "../ports.ts";
import { tryCommit } from "./commit.ts";
import { isBinary } from "./presentation.ts";
import { Uploads } from "./uploads.ts";

export interface Edit {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
}

export interface Edited {
  readonly file: FileRecord;
  readonly replacements: number;
}

/**
 * Edits the latest version; one that has moved on meanwhile is read and edited again. `first` is the file as it
 * was read already, if it was. Throws the refusals of the contract.
 */
export async function editFile(
  context: Context,
  path: string,
  edit: Edit,
  first: Answer<Content> | undefined,
): Promise<Edited> {
  const { gate, metadata } = context;
  let answer = first ?? await metadata.content(gate.caller, path);
  for (let tries = 1;; tries++) {
    const base = gate.take(answer);
    const { rope, replacements, uploads } = await applyEdit(context, base, edit);
    const result = await tryCommit(context, {
      kind: "edit",
      path,
      commitId: crypto.randomUUID(),
      segments: await uploads.finish(),
      baseVersion: base.file.version,
      rope,
    });
    if ("committed" in result) return { file: result.committed.file, replacements };
    if (result.refusal.code !== "VERSION_CONFLICT" || tries >= EDIT_CONFLICT_TRIES_MAX) {
      gate.refuse(result.refusal);
    }
    answer = await metadata.content(gate.caller, path);
  }
}

/** Searches the base and uploads what changes; `rope` lists the ids of the result's segments. */
async function applyEdit(context: Context, base: Content, edit: Edit) {
  const { version } = base.file;
  if (isBinary(base)) fail("NOT_TEXT", "The file is not text, so it cannot be edited.", { version });
  const pieces: Piece[] = base.segments.map((segment) => ({ kind: "stored", segment }));
  const load = (piece: Piece) =>
    piece.kind === "stored" ? context.segments.get(piece.segment) : Promise.resolve(piece.bytes);

  const found = await countOccurrences(pieces, load, edit.oldString);
  if (found.count === 0) {
    fail("STRING_NOT_FOUND", "The old string does not occur in the file.", {
      ...await nearMisses(pieces, load, edit.oldString),
      version,
    });
  }
  if (found.count > 1 && !edit.replaceAll) {
    fail("STRING_NOT_UNIQUE", "The old string occurs more than once; add context or set replaceAll.", {
      occurrences: found.count,
      lines: found.lines,
      version,
    });
  }
  refuseTooLarge(context, base, edit, found.count);

  const projectId = context.gate.grant?.projectId;
  if (projectId === undefined) throw new Error("an edit without a project");
  const uploads = new Uploads(context.segments, projectId, context.now);
  const rope: string[] = [];
  const which = edit.replaceAll ? "all" : "first";
  for await (const piece of rewrite(pieces, load, edit.oldString, edit.newString, which, found.touched)) {
    rope.push(piece.kind === "stored" ? piece.segment.id : await uploads.add(piece.bytes));
  }
  return { rope, replacements: found.count, uploads };
}

/** Before anything is uploaded. The commit checks again. */
function refuseTooLarge({ gate }: Context, base: Content, edit: Edit, replacements: number): void {
  const limitBytes = gate.grant?.maxFileBytes ?? null;
  const encoder = new TextEncoder();
  const growth = encoder.encode(edit.newString).length - encoder.encode(edit.oldString).length;
  const sizeBytes = base.file.size + growth * replacements;
  if (limitBytes !== null && sizeBytes > limitBytes) {
    fail("CONTENT_TOO_LARGE", "The file would be larger than the project's tier allows.", {
      limitBytes,
      sizeBytes,
      tier: gate.grant?.tier,
    });
  }
}
