/** Reads and searches the files whose text is not in the index, for a search by substring or pattern. */
import { ApiError } from "../errors.ts";
import { readText } from "../files/read_segments.ts";
import { COSTLY_REST_MILLISECONDS, SEARCH_LIVE_UNITS_MAX, SEARCH_READS_AT_ONCE } from "../limits.ts";
import type { SearchResult, Unsearched, UnsearchedReason } from "../contract/search.ts";
import type { Content } from "../ports/files.ts";
import type { UnsearchedPage } from "../ports/schemas.ts";
import { inParallel } from "../runtime/in_parallel.ts";
import { Work } from "../runtime/work.ts";
import type { LiveSource } from "./answer.ts";
import { matchFile, throwExhausted } from "./match_file.ts";
import type { Finder } from "./matching_lines.ts";
import { addUnsearched, comparePaths, unsearchedOf } from "./unsearched.ts";
import { NUL_STAND_IN } from "./snippet.ts";

/** The result for a file that was searched (null: no match), or why it was not searched. */
type LiveResult = { readonly result: SearchResult | null } | UnsearchedReason;

export class LiveSearch {
  readonly work = new Work(SEARCH_LIVE_UNITS_MAX, throwExhausted, COSTLY_REST_MILLISECONDS);
  /** Ids of the files that were searched here: their older texts in the index no longer count. */
  readonly searched = new Set<string>();
  /** The text that was not searched; null: all of it was. */
  notSearched: Unsearched | null = null;
  #found: SearchResult[] = [];
  /** Why no further file is searched; null: the search continues. */
  #stopReason: UnsearchedReason | null = null;

  constructor(private readonly source: LiveSource, private readonly find: Finder) {}

  /** Reads and searches the files that the first page of a search lists as missing from the index. */
  async read(page: UnsearchedPage): Promise<void> {
    this.notSearched = unsearchedOf(page);
    const { live } = page;
    if (live.length === 0) return;
    const results = await this.#searchAll(live);
    for (const [index, { file }] of live.entries()) {
      const one = results[index] ?? "bounds";
      if (typeof one === "string") {
        this.notSearched = addUnsearched(this.notSearched, file, one);
        continue;
      }
      this.searched.add(file.id);
      if (one.result) this.#found.push(one.result);
    }
    this.#found.sort((a, b) => comparePaths(a.path, b.path));
  }

  /** Records the unsearched text of a later page: a file may have a new version that is not indexed yet. */
  note(page: UnsearchedPage): void {
    this.notSearched ??= unsearchedOf(page);
  }

  /** The next result in order of path, up to `path` (undefined: up to the end); null if there is none. */
  next(path?: string): SearchResult | null {
    const [first] = this.#found;
    if (!first || path !== undefined && comparePaths(first.path, path) > 0) return null;
    return this.#found.shift() ?? null;
  }

  async #searchAll(live: readonly Content[]): Promise<LiveResult[]> {
    const { gate, deadline, request, liveReadSlots } = this.source;
    const bytes = live.reduce((sum, { file }) => sum + file.size, 0);
    let release;
    try {
      release = await liveReadSlots.begin(gate.projectId, bytes, deadline, request.signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return live.map(() => "busy");
    }
    try {
      return await inParallel(live, SEARCH_READS_AT_ONCE, (file) => this.#search(file));
    } finally {
      release();
    }
  }

  async #search({ file, segments }: Content): Promise<LiveResult> {
    if (this.#stopReason) return this.#stopReason;
    let content;
    try {
      content = (await readText(this.source, segments)).replaceAll("\0", NUL_STAND_IN);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Storage is out of reach for the other files, too.
      if (error.code === "SERVICE_UNAVAILABLE") this.#stopReason = "unreadable";
      return "unreadable";
    }
    const result = await matchFile({ file, skipped: null, content }, this.find, this.work);
    if (result !== "exhausted") return { result };
    this.#stopReason = "bounds";
    return "bounds";
  }
}
