/** The files of a search by substring or pattern whose text is not in the index: they are read and searched here. */
import { ApiError } from "../errors.ts";
import { readText } from "../files/read_segments.ts";
import { COSTLY_REST_MILLISECONDS, SEARCH_LIVE_UNITS_MAX, SEARCH_READS_AT_ONCE } from "../limits.ts";
import type { SearchResult, Unsearched, UnsearchedReason } from "../contract/search.ts";
import type { LiveFile, UnsearchedPage } from "../ports/search_index.ts";
import { inParallel } from "../runtime/in_parallel.ts";
import { Work } from "../runtime/work.ts";
import type { LiveSource } from "./answer.ts";
import { matchFile, throwExhausted } from "./match_file.ts";
import type { Finder } from "./matching_lines.ts";
import { comparePaths } from "./path_order.ts";
import { NUL_STAND_IN } from "./snippet.ts";
import { without, withUnsearched } from "./unsearched.ts";

/** A file that was looked at, or why it was not. */
type Looked = { readonly result: SearchResult | null } | UnsearchedReason;

export class LiveTexts {
  readonly #work = new Work(SEARCH_LIVE_UNITS_MAX, throwExhausted, COSTLY_REST_MILLISECONDS);
  readonly #read = new Set<string>();
  #found: SearchResult[] = [];
  #notSearched: Unsearched | null = null;
  /** Why no further file is to be looked at. */
  #isOver: UnsearchedReason | null = null;

  constructor(private readonly source: LiveSource, private readonly find: Finder) {}

  /** What was not looked at; null: everything was. */
  get notSearched(): Unsearched | null {
    return this.#notSearched;
  }

  /** The work that was done, in units. */
  get units(): number {
    return this.#work.units;
  }

  /** Ids of the files that were looked at, or given up: what the index has of them counts no more. */
  get known(): readonly string[] {
    return [...this.#read];
  }

  has(fileId: string): boolean {
    return this.#read.has(fileId);
  }

  /** Reads what the first page of a search says is not in the index. */
  async read(page: UnsearchedPage): Promise<void> {
    this.#notSearched = without(page);
    const { live } = page;
    if (live.length === 0) return;
    const looked = await this.#look(live);
    for (const [index, { file }] of live.entries()) {
      const one = looked[index] ?? "bounds";
      if (typeof one === "string") {
        this.#notSearched = withUnsearched(this.#notSearched, file, one);
        continue;
      }
      this.#read.add(file.id);
      if (one.result) this.#found.push(one.result);
    }
    this.#found.sort((a, b) => comparePaths(a.path, b.path));
  }

  /**
   * Notes what a later page of the search says: a file that was in the index at first may have got a version since that
   * is not.
   */
  note(page: UnsearchedPage): void {
    this.#notSearched ??= without(page);
  }

  /** What was found in the next file, in order of path, up to `path`; undefined: up to the end. */
  next(path?: string): SearchResult | null {
    const [first] = this.#found;
    if (!first || path !== undefined && comparePaths(first.path, path) > 0) return null;
    return this.#found.shift() ?? null;
  }

  async #look(live: readonly LiveFile[]): Promise<Looked[]> {
    const { gate, deadline, request, liveReads } = this.source;
    const bytes = live.reduce((sum, { file }) => sum + file.size, 0);
    let release;
    try {
      release = await liveReads.begin(gate.projectId, bytes, deadline, request.signal);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return live.map(() => "busy");
    }
    try {
      return await inParallel(live, SEARCH_READS_AT_ONCE, (file) => this.#lookAt(file));
    } finally {
      release();
    }
  }

  async #lookAt({ file, segments }: LiveFile): Promise<Looked> {
    if (this.#isOver) return this.#isOver;
    let content;
    try {
      content = (await readText(this.source, segments)).replaceAll("\0", NUL_STAND_IN);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Where Storage is out of reach, the next file is, too.
      if (error.code === "SERVICE_UNAVAILABLE") this.#isOver = "unreadable";
      return "unreadable";
    }
    const result = await matchFile({ file, skipped: null, content }, this.find, this.#work);
    if (result !== "exhausted") return { result };
    this.#isOver = "bounds";
    return "bounds";
  }
}
