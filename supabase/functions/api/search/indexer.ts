/** One claim of queued files: their text is read, stored in the search index and embedded. */
import { isBinaryMediaType } from "../files/media_type.ts";
import { readText, type SegmentSource } from "../files/read_segments.ts";
import { SEARCH_CLAIMS_PER_RUN, SEARCH_TEXT_BYTES_MAX } from "../limits.ts";
import type { ClaimedFile, Embedder, IndexedText, SearchIndex } from "../ports/search_index.ts";
import type { Log } from "../runtime/log.ts";
import { splitChunks } from "./chunks.ts";
import { NUL_STAND_IN } from "./snippet.ts";

export interface SearchParts extends SegmentSource {
  readonly index: SearchIndex;
  /** Null: semantic search is not configured. */
  readonly embedder: Embedder | null;
}

/** How many files a claim took, and, where none were due, when the next one will be. */
export interface TakenFiles {
  readonly files: number;
  readonly nextDueMilliseconds: number | null;
}

/** Indexes one claim: texts first, since they make files findable by their words, then embeddings. */
export async function indexClaim(parts: SearchParts, log: Log): Promise<TakenFiles> {
  const texts = await indexTexts(parts, log);
  return texts.files > 0 ? texts : { ...texts, files: await indexChunks(parts) };
}

/**
 * Indexes a bounded part of the backlog, for the sweep. Where the queue is empty, files that the embedding model has not
 * seen are queued: it may have been configured or changed after they were indexed. Returns how many files were indexed
 * or queued.
 */
export async function indexBacklog(parts: SearchParts, log: Log): Promise<number> {
  let taken = 0;
  for (let claims = 0; claims < SEARCH_CLAIMS_PER_RUN; claims++) {
    const { files } = await indexClaim(parts, log);
    if (files === 0) break;
    taken += files;
  }
  if (taken > 0 || !parts.embedder) return taken;
  return await parts.index.requeue(parts.embedder.model);
}

async function indexTexts(parts: SearchParts, log: Log): Promise<TakenFiles> {
  const { index, embedder } = parts;
  const { claimId, files, nextDueMilliseconds } = await index.claimTexts();
  const texts: IndexedText[] = [];
  for (const file of files) {
    try {
      texts.push(await readIndexedText(parts, file));
    } catch (error) {
      // An unreadable file must not block the others: its claim expires, and it is retried at growing intervals.
      log.backgroundFault("index", error);
    }
  }
  if (texts.length > 0) await index.storeTexts(claimId, texts, embedder?.model ?? null);
  return { files: files.length, nextDueMilliseconds };
}

async function readIndexedText(source: SegmentSource, file: ClaimedFile): Promise<IndexedText> {
  const { projectId, fileId, version, path, mimeType, isDeleted } = file;
  const base = {
    projectId,
    fileId,
    version,
    path,
    mimeType,
    isDeleted,
    content: null,
    skipped: null,
    chunks: [],
  };
  if (isDeleted) return base;
  if (isBinaryMediaType(mimeType)) return { ...base, skipped: "not_text" };
  if (file.size > SEARCH_TEXT_BYTES_MAX) return { ...base, skipped: "too_large" };
  if (!file.segments.every((segment) => segment.isText)) return { ...base, skipped: "not_text" };
  const content = (await readText(source, file.segments)).replaceAll("\0", NUL_STAND_IN);
  const chunks = splitChunks(content).map(({ firstLine, start, length }) =>
    [firstLine, start, length] as const
  );
  return { ...base, content, chunks };
}

async function indexChunks({ index, embedder }: SearchParts): Promise<number> {
  if (!embedder) return 0;
  const { claimId, files } = await index.claimChunks(embedder.model);
  const texts = files.flatMap((file) => file.chunks.map((chunk) => chunk.text));
  const vectors = texts.length === 0 ? [] : await embedder.embed(texts);
  let at = 0;
  for (const file of files) {
    const embeddings = file.chunks.map(({ hash }) => ({ hash, embedding: vectors[at++] ?? [] }));
    await index.storeEmbeddings(claimId, file, embedder.model, embeddings);
  }
  return files.length;
}
