/** Leases queued files, reads their texts, and stores them in the search index. */
import { ApiError } from "../errors.ts";
import { isBinaryMediaType } from "../contract/media_types.ts";
import { readText, type SegmentSource } from "../files/read_segments.ts";
import {
  SEARCH_LEASE_BYTES,
  SEARCH_LEASES_PER_RUN,
  SEARCH_READS_AT_ONCE,
  SEARCH_TEXT_BYTES_MAX,
  SEARCH_TRIES_MAX,
  SWEEP_RESERVED_MILLISECONDS,
} from "../limits.ts";
import type { Embedder, FailedFile, IndexedText, SearchIndex } from "../ports/search_index.ts";
import type { Lease, LeasedFile } from "../ports/schemas.ts";
import type { Deadline } from "../runtime/deadline.ts";
import { inParallel } from "../runtime/in_parallel.ts";
import type { Log } from "../runtime/log.ts";
import { splitChunks } from "./chunks.ts";
import { embedLeased } from "./chunk_embedder.ts";
import { NUL_STAND_IN } from "./snippet.ts";
import type { LeaseResult } from "./index_scheduler.ts";

export interface SearchParts extends SegmentSource {
  readonly index: SearchIndex;
  /** Null: semantic search is not configured. */
  readonly embedder: Embedder | null;
}

/** Leases some files and indexes their texts. With `begun`, an ISO time, only files that were due by then. */
export async function indexLeased(parts: SearchParts, log: Log, begun?: string): Promise<LeaseResult> {
  const lease = await parts.index.leaseTexts(begun);
  if (lease.files.length > 0) await indexFiles(parts, lease, log);
  return { files: lease.files.length, nextDueMilliseconds: lease.nextDueMilliseconds };
}

/**
 * Indexes a bounded part of the backlog, for the sweep. Where the queue is empty, it queues files that the embedding
 * model has not seen (the model may have been configured or changed after they were indexed), and files that could not
 * be indexed long ago. Returns how many files it indexed or queued. Takes no lease when less than
 * SWEEP_RESERVED_MILLISECONDS are left, which the sweep itself needs. With `begun`, an ISO time, it leases only files
 * that were due by then.
 */
export async function indexBacklog(
  parts: SearchParts,
  log: Log,
  deadline: Deadline,
  begun?: string,
): Promise<number> {
  let taken = 0;
  for (let leases = 0; leases < SEARCH_LEASES_PER_RUN; leases++) {
    const indexed = await indexLeased(parts, log, begun);
    const embedded = await embedLeased(parts, log, begun);
    if (indexed.files + embedded.files === 0) break;
    taken += indexed.files + embedded.files;
    if (deadline.remainingMilliseconds < SWEEP_RESERVED_MILLISECONDS) break;
  }
  return taken > 0 ? taken : await parts.index.requeue(parts.embedder?.model ?? null);
}

/**
 * Stores the texts of leased files: the small ones first, in one call, since other projects wait for them; then each
 * large one by itself. A text that cannot be stored does not keep others out of the index.
 */
async function indexFiles(parts: SearchParts, { leaseId, files }: Lease, log: Log): Promise<void> {
  const failed: FailedFile[] = [];
  const read = await inParallel(files, SEARCH_READS_AT_ONCE, async (file) => {
    try {
      return await readIndexedText(parts, file, parts.embedder !== null);
    } catch (error) {
      log.backgroundFault("index", error);
      const isOutage = error instanceof ApiError && error.code === "SERVICE_UNAVAILABLE";
      failed.push({ ...file, isFault: !isOutage });
      return null;
    }
  });
  const texts = read.filter((text) => text !== null).sort((a, b) => lengthOf(a) - lengthOf(b));
  const store = (some: readonly IndexedText[]) =>
    parts.index.storeTexts(leaseId, some, parts.embedder?.model ?? null);
  const storeAlone = async (text: IndexedText) => {
    try {
      await store([text]);
    } catch (error) {
      log.backgroundFault("index", error);
      // If the database accepts this note, it is in reach, so the text itself is at fault. Otherwise this throws.
      await parts.index.noteFailures(leaseId, [{ ...text, isFault: true }]);
    }
  };
  const small = texts.filter((text) => lengthOf(text) <= SEARCH_LEASE_BYTES);
  if (small.length > 1) {
    try {
      await store(small);
    } catch (error) {
      log.backgroundFault("index", error);
      for (const text of small) await storeAlone(text);
    }
  }
  for (const text of small.length > 1 ? texts.slice(small.length) : texts) await storeAlone(text);
  if (failed.length > 0) await parts.index.noteFailures(leaseId, failed);
}

function lengthOf({ content }: IndexedText): number {
  return content?.length ?? 0;
}

async function readIndexedText(
  source: SegmentSource,
  file: LeasedFile,
  hasModel: boolean,
): Promise<IndexedText> {
  const { projectId, fileId, version, path, mimeType, isDeleted } = file;
  const none = { content: null, skipped: null, chunks: [] };
  const base = { projectId, fileId, version, path, mimeType, isDeleted, ...none };
  if (isDeleted) return base;
  if (isBinaryMediaType(mimeType)) return { ...base, skipped: "not_text" };
  if (file.size > SEARCH_TEXT_BYTES_MAX) return { ...base, skipped: "too_large" };
  if (!file.segments.every((segment) => segment.isText)) return { ...base, skipped: "not_text" };
  if (file.tries > SEARCH_TRIES_MAX) return { ...base, skipped: "not_indexable" };
  const content = (await readText(source, file.segments)).replaceAll("\0", NUL_STAND_IN);
  // Only a model needs chunks. If one is configured later, the sweep queues the texts again.
  const chunks = (hasModel ? splitChunks(content) : []).map(({ firstLine, start, length }) =>
    [firstLine, start, length] as const
  );
  return { ...base, content, chunks };
}
