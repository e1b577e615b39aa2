/**
 * The search index follows writes: a commit leaves its file in a queue, and this takes files from there, after the
 * answer, a bounded run at a time. What a run leaves, or drops when its isolate ends, the next one takes.
 */
import { chunksOf } from "./chunks.ts";
import { isBinaryMediaType } from "../files/media_type.ts";
import { NUL_STAND_IN } from "./snippet.ts";
import {
  SEARCH_CLAIMS_PER_RUN,
  SEARCH_INDEX_DELAY_MILLISECONDS,
  SEARCH_INDEX_PAUSE_FACTOR,
  SEARCH_INDEX_PAUSE_MILLISECONDS_MAX,
  SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
  SEARCH_TEXT_BYTES_MAX,
} from "../limits.ts";
import type { Log } from "../runtime/log.ts";
import type { ClaimedFile, Embedder, IndexedText, SearchIndex } from "../ports/search_index.ts";
import { readSegments, type SegmentSource } from "../files/read_segments.ts";

export interface SearchParts extends SegmentSource {
  readonly index: SearchIndex;
  /** Null: search goes without meaning. */
  readonly embedder: Embedder | null;
}

/**
 * One for each isolate: one run at a time, which goes on while something comes, or rests and will be due. Commits go
 * first: while many keep coming, indexing takes a fixed share of the time, however much it has to do.
 */
export class Indexing {
  private isRunning = false;
  private isAskedAgain = false;
  /** Since the last claim ended. */
  private commits = 0;
  private endRest: (() => void) | null = null;

  constructor(
    private readonly parts: SearchParts,
    private readonly background: (work: Promise<unknown>) => void,
    private readonly log: Log,
  ) {}

  /** A commit was made: its file waits, and others may follow it. */
  committed(): void {
    this.commits++;
    this.start();
  }

  /** Something waits. Answers at once; the work begins a moment later. */
  start(): void {
    if (this.isRunning) {
      this.isAskedAgain = true;
      this.endRest?.();
      return;
    }
    this.isRunning = true;
    this.background(this.run());
  }

  private async run(): Promise<void> {
    try {
      await sleep(SEARCH_INDEX_DELAY_MILLISECONDS);
      // What came before the first claim is what it takes; only who comes later is in its way.
      this.commits = 0;
      for (let claims = 1;; claims++) {
        if (this.isAskedAgain) claims = 1;
        this.isAskedAgain = false;
        const started = performance.now();
        const { files, nextDueMilliseconds } = await indexClaim(this.parts, this.log);
        const pause = pauseAfter(performance.now() - started, this.commits, files > 0);
        this.commits = 0;
        if (files === 0 && nextDueMilliseconds !== null && !this.isAskedAgain) {
          await this.rest(nextDueMilliseconds);
        } else if (!this.isAskedAgain && (files === 0 || claims === SEARCH_CLAIMS_PER_RUN)) {
          break;
        }
        await sleep(pause);
      }
    } catch (error) {
      this.log.backgroundFault("index", error);
    } finally {
      this.isRunning = false;
    }
  }

  /** Waits so long, or until something else comes. */
  private rest(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.endRest = null;
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      this.endRest = end;
    });
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/**
 * How long the database is left to commits that keep coming, in milliseconds; few of them wait for little. Where none
 * come, what is left of the queue is taken at once.
 */
function pauseAfter(tookMilliseconds: number, commits: number, isMoreLikely: boolean): number {
  if (commits === 0 && isMoreLikely) return 0;
  const pause = Math.min(
    commits * SEARCH_INDEX_PAUSE_MILLISECONDS_PER_COMMIT,
    tookMilliseconds * SEARCH_INDEX_PAUSE_FACTOR,
    SEARCH_INDEX_PAUSE_MILLISECONDS_MAX,
  );
  return Math.max(pause, SEARCH_INDEX_DELAY_MILLISECONDS);
}

/** What a claim took: how many files, and, where there were none that are due, when the next one will be. */
interface TakenFiles {
  readonly files: number;
  readonly nextDueMilliseconds: number | null;
}

/** One claim's worth: texts first, since words find them, then embeddings. */
async function indexClaim(parts: SearchParts, log: Log): Promise<TakenFiles> {
  const texts = await indexTexts(parts, log);
  return texts.files > 0 ? texts : { ...texts, files: await indexChunks(parts) };
}

/**
 * What the sweep does: a slice of what was left behind. Where nothing waits, files are queued that the embedding model
 * has not seen, since it was set up or changed after they were indexed. Answers how many files there were of either.
 */
export async function indexLeftBehind(parts: SearchParts, log: Log): Promise<number> {
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
      texts.push(await textOf(parts, file));
    } catch (error) {
      // One file that cannot be read must not keep the others; its claim runs out and it is tried again, ever later.
      log.backgroundFault("index", error);
    }
  }
  if (texts.length > 0) await index.storeTexts(claimId, texts, embedder?.model ?? null);
  return { files: files.length, nextDueMilliseconds };
}

async function textOf(source: SegmentSource, file: ClaimedFile): Promise<IndexedText> {
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
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for await (const bytes of readSegments(source, file.segments)) text += decoder.decode(bytes);
  const content = text.replaceAll("\0", NUL_STAND_IN);
  const chunks = chunksOf(content).map(({ firstLine, start, length }) => [firstLine, start, length] as const);
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
