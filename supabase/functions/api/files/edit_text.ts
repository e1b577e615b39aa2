/** Applying edits to a rope: search in the stored segments, rewrite only what changes. Nothing is committed here. */
import type { Context } from "../context.ts";
import { countOccurrences, type Piece, rewrite, sizeOf } from "./rewrite.ts";
import { nearMisses } from "./near_misses.ts";
import { fail } from "../errors.ts";
import { EDIT_MEMORY_BYTES } from "../limits.ts";
import type { Segment } from "../ports/segments.ts";
import { projectOf } from "./store_content.ts";
import { discard, Uploads } from "./uploads.ts";

/** One replacement, as the client asked for it. */
export interface Edit {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
  /** The edit is refused unless the string occurs exactly so often; all of them are replaced. */
  readonly expectedOccurrences: number | undefined;
}

/** The text at some point: pieces in order, and how many replacements led there. */
export interface EditedText {
  readonly pieces: readonly Piece[];
  readonly replacements: number;
}

/** Edits one text, one edit after the other. What it stores on the way is kept track of, so that it can be removed. */
export class TextEditor {
  private pieces: readonly Piece[];
  private replacements = 0;
  private readonly uploads: Uploads;

  constructor(
    private readonly context: Context,
    rope: readonly Segment[],
    private readonly version: number,
    /** Throws for a text that would be too large. */
    private readonly checkSize: (sizeBytes: number) => void,
  ) {
    this.pieces = rope.map((segment) => ({ kind: "stored", segment }));
    this.uploads = new Uploads(context.segments, projectOf(context), context.now);
  }

  /** Applies all edits in order. Throws STRING_NOT_FOUND, STRING_NOT_UNIQUE and what `checkSize` throws. */
  async apply(edits: readonly Edit[]): Promise<EditedText> {
    for (const [index, edit] of edits.entries()) {
      const where = edits.length > 1 ? { edit: index } : {};
      this.pieces = await this.applyOne(edit, where);
    }
    return { pieces: this.pieces, replacements: this.replacements };
  }

  /**
   * Stores what is new. Answers the ids of the whole rope and the segments that are new in it. What was stored early
   * and edited once more is removed.
   */
  async store(): Promise<{ rope: string[]; segments: Segment[] }> {
    const rope: (string | number)[] = [];
    for (const piece of this.pieces) {
      rope.push(piece.kind === "stored" ? piece.segment.id : await this.uploads.add(piece.bytes));
    }
    const uploaded = await this.uploads.finish();
    const ids = rope.map((id) => typeof id === "string" ? id : uploaded[id]?.id ?? "");
    const named = new Set(ids);
    await discard(this.context.segments, uploaded.filter((segment) => !named.has(segment.id)));
    return { rope: ids, segments: uploaded.filter((segment) => named.has(segment.id)) };
  }

  /** Removes everything that was stored. */
  async discard(): Promise<void> {
    await this.uploads.discard();
  }

  private readonly load = (piece: Piece): Promise<Uint8Array> =>
    piece.kind === "stored" ? this.context.segments.get(piece.segment) : Promise.resolve(piece.bytes);

  private async applyOne(edit: Edit, where: { edit?: number }): Promise<Piece[]> {
    const found = await countOccurrences(this.pieces, this.load, edit.oldString);
    await this.checkOccurrences(edit, found.count, found.lines, where);
    const growth = byteLength(edit.newString) - byteLength(edit.oldString);
    const sizeBytes = this.pieces.reduce((total, piece) => total + sizeOf(piece), 0);
    this.checkSize(sizeBytes + growth * found.count);
    this.replacements += found.count;

    const result: Piece[] = [];
    let bytesInMemory = 0;
    const which = found.count > 1 ? "all" : "first";
    for await (
      const piece of rewrite(this.pieces, this.load, edit.oldString, edit.newString, which, found.touched)
    ) {
      bytesInMemory += piece.kind === "new" ? piece.bytes.length : 0;
      result.push(bytesInMemory > EDIT_MEMORY_BYTES ? await this.storeEarly(piece) : piece);
    }
    return result;
  }

  private async checkOccurrences(
    edit: Edit,
    occurrences: number,
    lines: readonly number[],
    where: { edit?: number },
  ): Promise<void> {
    const { version } = this;
    if (occurrences === 0) {
      fail("STRING_NOT_FOUND", "The old string does not occur in the file.", {
        ...await nearMisses(this.pieces, this.load, edit.oldString),
        version,
        ...where,
      });
    }
    const { expectedOccurrences } = edit;
    const isExpected = expectedOccurrences === undefined
      ? occurrences === 1 || edit.replaceAll
      : occurrences === expectedOccurrences;
    if (isExpected) return;
    const message = expectedOccurrences === undefined
      ? "The old string occurs more than once; add context or set replaceAll."
      : "The old string does not occur as often as expected.";
    fail("STRING_NOT_UNIQUE", message, {
      occurrences,
      ...(expectedOccurrences !== undefined && { expectedOccurrences }),
      lines,
      version,
      ...where,
    });
  }

  /** A text that is rewritten at many places does not fit in memory: what is over the share is stored at once. */
  private async storeEarly(piece: Piece): Promise<Piece> {
    if (piece.kind === "stored") return piece;
    const place = await this.uploads.add(piece.bytes);
    const segment = await this.uploads.at(place);
    return { kind: "stored", segment };
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
