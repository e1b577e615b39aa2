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

/**
 * Embeds one claim; takes nothing where no model is configured. With `begun`, an ISO time, only what was due by then.
 * Throws SERVICE_UNAVAILABLE where the index or the model is out of reach.
 */
export async function embedClaim(
  { index, embedder }: EmbeddingParts,
  log: Log,
  begun?: string,
): Promise<TakenFiles> {
  if (!embedder) return { files: 0, nextDueMilliseconds: null };
  const { claimId, files, nextDueMilliseconds } = await index.claimChunks(embedder.model, begun);
  const failed: FailedFile[] = [];
  for (const { file, result } of await embedFiles(embedder, files, log)) {
    if (typeof result === "string") {
      failed.push({ ...file, isFault: result === "refused" });
      continue;
    }
    const embeddings = file.chunks.map(({ hash }, place) => ({ hash, embedding: result[place] ?? null }));
    try {
      await index.storeEmbeddings(claimId, file, embedder.model, embeddings);
    } catch (error) {
      log.backgroundFault("embed", error);
      failed.push({ ...file, isFault: true });
    }
  }
  if (failed.length > 0) await index.noteFailures(claimId, failed);
  if (failed.some(({ isFault }) => !isFault)) throw unavailable();
  return { files: files.length, nextDueMilliseconds };
}

/** All files in one call; where that fails, each file by itself, as long as the model is in reach. */
async function embedFiles(
  embedder: Embedder,
  files: readonly ClaimedFile[],
  log: Log,
): Promise<EmbeddedFile[]> {
  const all = files.length > 1 ? await tryTexts(embedder, files.flatMap(textsOf), log) : null;
  const found: EmbeddedFile[] = [];
  let at = 0;
  for (const file of files) {
    const isOut = found.some(({ result }) => result === "out of reach");
    const result = all?.slice(at, at += file.chunks.length) ??
      (isOut ? "out of reach" : await embedAlone(embedder, file, log));
    found.push({ file, result });
  }
  return found;
}

/** After SEARCH_TRIES_MAX claims each chunk is tried by itself, and what the model refuses has no vector. */
async function embedAlone(embedder: Embedder, file: ClaimedFile, log: Log): Promise<Result> {
  const texts = textsOf(file);
  // The claim before this one tried each chunk and did not end: the isolate may have ended with the model.
  if (file.tries > SEARCH_TRIES_MAX + 1) return texts.map(() => null);
  const parts = file.tries > SEARCH_TRIES_MAX ? texts.map((text) => [text]) : [texts];
  const vectors: Vector[] = [];
  for (const part of parts) vectors.push(...await tryTexts(embedder, part, log) ?? part.map(() => null));
  if (!vectors.includes(null)) return vectors;
  if (await tryTexts(embedder, [HARMLESS_TEXT], log) === null) return "out of reach";
  return file.tries > SEARCH_TRIES_MAX ? vectors : "refused";
}

/** Null where the model fails. */
async function tryTexts(
  embedder: Embedder,
  texts: readonly string[],
  log: Log,
): Promise<readonly Vector[] | null> {
  if (texts.length === 0) return [];
  try {
    return await embedder.embed(texts);
  } catch (error) {
    log.backgroundFault("embed", error);
    return null;
  }
}

function textsOf({ chunks }: ClaimedFile): string[] {
  return chunks.map(({ text }) => text);
}
