/** Applies edits to a segment list: searches the stored segments and rewrites only those that change. Commits nothing. */
import { countOccurrences, type Piece, rewrite, sizeOf } from "./rewrite.ts";
import { nearMisses } from "./near_misses.ts";
import { fail } from "../errors.ts";
import { EDIT_MEMORY_BYTES, EDIT_UNITS_MAX, READ_KEPT_BYTES_MAX } from "../limits.ts";
import type { Segment } from "../ports/segments.ts";
import { Work } from "../runtime/work.ts";
import { discard, type Uploader, Uploads } from "./upload.ts";

/** One replacement, as the client requested it. */
export interface Edit {
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
  /** The edit is refused unless the string occurs exactly this number of times; all occurrences are replaced. */
  readonly expectedOccurrences: number | undefined;
}

/** The work of all edits of a request. Throws SEARCH_TOO_BROAD beyond EDIT_UNITS_MAX. */
export function editWork(restMilliseconds = 0): Work {
  const message =
    "The edits would search and rewrite too much text. Send fewer at once, or replace longer strings.";
  const details = { rule: "edit_units", limit: EDIT_UNITS_MAX };
  return new Work(EDIT_UNITS_MAX, () => fail("SEARCH_TOO_BROAD", message, details), restMilliseconds);
}

/** Applies edits to one text, one after the other. Records the segments that it stores, so that it can remove them. */
export class TextEditor {
  private pieces: readonly Piece[];
  private replacements = 0;
  private readonly uploads: Uploads;
  /** Names of the segments that were loaded. */
  private readonly loaded = new Set<string>();
  private readonly isKept: boolean;

  constructor(
    private readonly uploader: Uploader,
    segments: readonly Segment[],
    private readonly version: number,
    /** Throws if the text would be too large. */
    private readonly checkSize: (sizeBytes: number) => void,
    private readonly work: Work = editWork(),
  ) {
    this.pieces = segments.map((segment) => ({ kind: "stored", segment }));
    this.uploads = new Uploads(uploader);
    this.isKept = segments.reduce((bytes, { size }) => bytes + size, 0) <= READ_KEPT_BYTES_MAX;
  }

  /** Applies all edits in order. Throws STRING_NOT_FOUND, STRING_NOT_UNIQUE and what `checkSize` and `work` throw. */
  async apply(edits: readonly Edit[]) {
    for (const [index, edit] of edits.entries()) {
      const where = edits.length > 1 ? { edit: index } : {};
      this.pieces = await this.applyOne(edit, where);
    }
    return { pieces: this.pieces, replacements: this.replacements };
  }

  /**
   * Stores the new pieces. Returns the ids of all segments in order, and the new segments among them. Removes segments
   * that were stored early and then edited again.
   */
  async store(): Promise<{ segmentIds: string[]; segments: Segment[] }> {
    const places: (string | number)[] = [];
    for (const piece of this.pieces) {
      places.push(piece.kind === "stored" ? piece.segment.id : await this.uploads.add(piece.bytes));
    }
    const uploaded = await this.uploads.finish();
    const ids = places.map((id) => typeof id === "string" ? id : uploaded[id]?.id ?? "");
    const referenced = new Set(ids);
    await discard(this.uploader.segments, uploaded.filter((segment) => !referenced.has(segment.id)));
    return { segmentIds: ids, segments: uploaded.filter((segment) => referenced.has(segment.id)) };
  }

  /** Applies all edits and stores the new pieces. If it fails, it removes the pieces that it stored. */
  async make(edits: readonly Edit[]) {
    try {
      const { replacements } = await this.apply(edits);
      return { replacements, ...await this.store() };
    } catch (error) {
      await this.uploads.discard();
      throw error;
    }
  }

  private readonly load = async (piece: Piece): Promise<Uint8Array> => {
    if (piece.kind === "new") return piece.bytes;
    const { name, size } = piece.segment;
    // Where all segments stay in the cache, each is fetched and verified only once.
    if (!this.isKept || !this.loaded.has(name)) this.work.add(size);
    this.loaded.add(name);
    return await this.uploader.segments.get(piece.segment);
  };

  private async applyOne(edit: Edit, where: { edit?: number }): Promise<Piece[]> {
    // Lines are numbered only for a report: counting line feeds takes longer than finding a string.
    const found = await countOccurrences(this.pieces, this.load, edit.oldString, this.work, 0);
    await this.checkOccurrences(edit, found.count, where);
    const growth = byteLength(edit.newString) - byteLength(edit.oldString);
    const sizeBytes = this.pieces.reduce((total, piece) => total + sizeOf(piece), 0);
    this.checkSize(sizeBytes + growth * found.count);
    this.replacements += found.count;

    const result: Piece[] = [];
    let bytesInMemory = 0;
    const { oldString, newString } = edit;
    for await (
      const piece of rewrite(this.pieces, this.load, oldString, newString, found.touched, this.work)
    ) {
      bytesInMemory += piece.kind === "new" ? piece.bytes.length : 0;
      result.push(bytesInMemory > EDIT_MEMORY_BYTES ? await this.storeEarly(piece) : piece);
    }
    return result;
  }

  private async checkOccurrences(
    edit: Edit,
    occurrences: number,
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
    const { lines } = await countOccurrences(this.pieces, this.load, edit.oldString, new Work());
    fail("STRING_NOT_UNIQUE", message, {
      occurrences,
      ...(expectedOccurrences !== undefined && { expectedOccurrences }),
      lines,
      version,
      ...where,
    });
  }

  /** A text that is rewritten in many places may not fit in memory: pieces beyond EDIT_MEMORY_BYTES are stored at once. */
  private async storeEarly(piece: Piece): Promise<Piece> {
    if (piece.kind === "stored") return piece;
    return { kind: "stored", segment: await this.uploads.at(await this.uploads.add(piece.bytes)) };
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
