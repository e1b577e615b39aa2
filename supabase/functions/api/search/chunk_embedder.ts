/** Embeds the chunks of leased files. A text that the model refuses gets no vector, and does not stop other texts. */
import { unavailable } from "../errors.ts";
import { SEARCH_TRIES_MAX } from "../limits.ts";
import type { Embedder, FailedFile, SearchIndex } from "../ports/search_index.ts";
import type { LeasedFile } from "../ports/schemas.ts";
import type { Log } from "../runtime/log.ts";
import type { LeaseResult } from "./index_scheduler.ts";

/** A text that no model refuses: where embedding it fails, too, the model is out of reach. */
const HARMLESS_TEXT = "text";

export interface EmbeddingParts {
  readonly index: Pick<SearchIndex, "leaseChunks" | "storeEmbeddings" | "noteFailures">;
  readonly embedder: Embedder | null;
}

/** Null: the model refuses the text. */
type Vector = readonly number[] | null;
type Result = readonly Vector[] | "refused" | "out of reach";

/**
 * Leases some files and embeds their chunks; does nothing where no model is configured. With `begun`, an ISO time, it
 * leases only files that were due by then. Throws SERVICE_UNAVAILABLE where the index or the model is out of reach.
 */
export async function embedLeased(
  { index, embedder }: EmbeddingParts,
  log: Log,
  begun?: string,
): Promise<LeaseResult> {
  if (!embedder) return { files: 0, nextDueMilliseconds: null };
  const { leaseId, files, nextDueMilliseconds } = await index.leaseChunks(embedder.model, begun);
  const failed: FailedFile[] = [];
  for (const { file, result } of await embedFiles(embedder, files, log)) {
    if (typeof result === "string") {
      failed.push({ ...file, isFault: result === "refused" });
      continue;
    }
    const embeddings = file.chunks.map(({ hash }, place) => ({ hash, embedding: result[place] ?? null }));
    try {
      await index.storeEmbeddings(leaseId, file, embedder.model, embeddings);
    } catch (error) {
      log.backgroundFault("embed", error);
      failed.push({ ...file, isFault: true });
    }
  }
  if (failed.length > 0) await index.noteFailures(leaseId, failed);
  if (failed.some(({ isFault }) => !isFault)) throw unavailable();
  return { files: files.length, nextDueMilliseconds };
}

/** Embeds all files in one call; where that fails, each file by itself, until the model is out of reach. */
async function embedFiles(
  embedder: Embedder,
  files: readonly LeasedFile[],
  log: Log,
): Promise<{ file: LeasedFile; result: Result }[]> {
  const all = files.length > 1 ? await tryTexts(embedder, files.flatMap(textsOf), log) : null;
  const found: { file: LeasedFile; result: Result }[] = [];
  let at = 0;
  for (const file of files) {
    const isOut = found.some(({ result }) => result === "out of reach");
    const result = all?.slice(at, at += file.chunks.length) ??
      (isOut ? "out of reach" : await embedAlone(embedder, file, log));
    found.push({ file, result });
  }
  return found;
}

/** After SEARCH_TRIES_MAX leases, each chunk is embedded by itself, and a refused chunk gets no vector. */
async function embedAlone(embedder: Embedder, file: LeasedFile, log: Log): Promise<Result> {
  const texts = textsOf(file);
  // The previous lease embedded each chunk by itself and was not finished: one of them may have crashed the isolate.
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

function textsOf({ chunks }: LeasedFile): string[] {
  return chunks.map(({ text }) => text);
}
