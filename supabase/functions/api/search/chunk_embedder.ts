/** One claim of files whose chunks are embedded. What the model refuses stays without a vector and stops nothing else. */
import { unavailable } from "../errors.ts";
import { SEARCH_TRIES_MAX } from "../limits.ts";
import type { ClaimedFile, Embedder, FailedFile, SearchIndex } from "../ports/search_index.ts";
import type { Log } from "../runtime/log.ts";
import type { TakenFiles } from "./taken_files.ts";

/** A text that no model refuses: where this fails, too, the model is out of reach. */
const HARMLESS_TEXT = "text";

/** What a claim of chunks needs. */
export interface EmbeddingParts {
  readonly index: Pick<SearchIndex, "claimChunks" | "storeEmbeddings" | "noteFailures">;
  readonly embedder: Embedder | null;
}

/** Null: the model refuses the text. */
type Vector = readonly number[] | null;
type Result = readonly Vector[] | "refused" | "out of reach";

interface EmbeddedFile {
  readonly file: ClaimedFile;
  readonly result: Result;
}

/** Embeds claims of chunks, and remembers whose turn is next. */
export class ChunkEmbedder {
  private after: string | null = null;

  constructor(private readonly log: Log) {}

  /**
   * Embeds one claim; takes nothing where no model is configured. Throws SERVICE_UNAVAILABLE where the index or the
   * model is out of reach.
   */
  async embed({ index, embedder }: EmbeddingParts, begun?: string): Promise<TakenFiles> {
    if (!embedder) return { files: 0, nextDueMilliseconds: null };
    const claim = await index.claimChunks(embedder.model, { after: this.after, begun });
    const { claimId, files, nextDueMilliseconds } = claim;
    this.after = claim.after ?? this.after;
    const failed: FailedFile[] = [];
    for (const { file, result } of await this.embedFiles(embedder, files)) {
      if (typeof result === "string") {
        failed.push({ ...file, isFault: result === "refused" });
        continue;
      }
      const embeddings = file.chunks.map(({ hash }, place) => ({ hash, embedding: result[place] ?? null }));
      try {
        await index.storeEmbeddings(claimId, file, embedder.model, embeddings);
      } catch (error) {
        this.log.backgroundFault("embed", error);
        failed.push({ ...file, isFault: true });
      }
    }
    if (failed.length > 0) await index.noteFailures(claimId, failed);
    if (failed.some(({ isFault }) => !isFault)) throw unavailable();
    return { files: files.length, nextDueMilliseconds };
  }

  /** All files in one call; where that fails, each file by itself, as long as the model is in reach. */
  private async embedFiles(embedder: Embedder, files: readonly ClaimedFile[]): Promise<EmbeddedFile[]> {
    const isTogether = files.length > 1;
    const all = isTogether ? await this.tryTexts(embedder, files.flatMap(textsOf)) : null;
    const found: EmbeddedFile[] = [];
    let at = 0;
    for (const file of files) {
      const isOut = found.some(({ result }) => result === "out of reach");
      const result = all?.slice(at, at += file.chunks.length) ??
        (isOut ? "out of reach" : await this.embedAlone(embedder, file));
      found.push({ file, result });
    }
    return found;
  }

  /** After SEARCH_TRIES_MAX claims each chunk is tried by itself, and what the model refuses has no vector. */
  private async embedAlone(embedder: Embedder, file: ClaimedFile): Promise<Result> {
    const texts = textsOf(file);
    // The claim before this one tried each chunk and did not end: the isolate may have ended with the model.
    if (file.tries > SEARCH_TRIES_MAX + 1) return texts.map(() => null);
    const parts = file.tries > SEARCH_TRIES_MAX ? texts.map((text) => [text]) : [texts];
    const vectors: Vector[] = [];
    for (const part of parts) vectors.push(...await this.tryTexts(embedder, part) ?? part.map(() => null));
    if (!vectors.includes(null)) return vectors;
    if (await this.tryTexts(embedder, [HARMLESS_TEXT]) === null) return "out of reach";
    return file.tries > SEARCH_TRIES_MAX ? vectors : "refused";
  }

  private async tryTexts(embedder: Embedder, texts: readonly string[]): Promise<readonly Vector[] | null> {
    if (texts.length === 0) return [];
    try {
      return await embedder.embed(texts);
    } catch (error) {
      this.log.backgroundFault("embed", error);
      return null;
    }
  }
}

function textsOf({ chunks }: ClaimedFile): string[] {
  return chunks.map(({ text }) => text);
}
