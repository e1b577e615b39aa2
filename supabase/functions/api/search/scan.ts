/** Search by substring or pattern: the database selects files that may match, and the function searches their lines. */
import type { SearchResult } from "../contract/search.ts";
import { fail } from "../errors.ts";
import {
  COSTLY_REST_MILLISECONDS,
  SEARCH_BATCH_BYTES,
  SEARCH_BATCH_FILES,
  SEARCH_CALLS_MAX,
  SEARCH_LIVE_BYTES_MAX,
  SEARCH_LIVE_FILE_BYTES_MAX,
  SEARCH_LIVE_READS_MAX,
  SEARCH_READ_BYTES_MAX,
  SEARCH_UNITS_MAX,
  SEARCH_WALKS_MAX,
  SEARCH_WALKS_PER_REQUEST,
  WORK_UNITS_PER_REQUEST,
} from "../limits.ts";
import type { SearchPage } from "../ports/schemas.ts";
import { Work } from "../runtime/work.ts";
import type { SearchAnswer, Searcher } from "./answer.ts";
import { LiveSearch } from "./live_search.ts";
import { matchFile, throwExhausted } from "./match_file.ts";
import type { ScanPlan } from "./plan.ts";

const LIVE_BOUNDS = {
  fileBytes: SEARCH_LIVE_FILE_BYTES_MAX,
  bytes: SEARCH_LIVE_BYTES_MAX,
  reads: SEARCH_LIVE_READS_MAX,
};

interface PageRequest {
  readonly after?: string | undefined;
  /** The number of results that the page still lacks. */
  readonly wanted: number;
  /** The number of results that the database skips. */
  readonly skip: number;
  readonly known: readonly string[];
}

/**
 * Returns one page, in order of path. Where files are large, the page may be shorter than `limit` although more
 * follows. Files that are not in the index are read from Storage, within bounds of their own. Throws SEARCH_TOO_BROAD
 * where SEARCH_READ_BYTES_MAX, SEARCH_UNITS_MAX, SEARCH_CALLS_MAX or SEARCH_WALKS_MAX is reached before a match. None
 * of these bounds is a time, so the answer does not depend on how busy the database is.
 */
export async function scan(searcher: Searcher, plan: ScanPlan): Promise<SearchAnswer> {
  const work = new Work(SEARCH_UNITS_MAX, throwExhausted, COSTLY_REST_MILLISECONDS);
  try {
    return await scanWithin(searcher, plan, work);
  } finally {
    searcher.gate.addWork(work.units / WORK_UNITS_PER_REQUEST);
  }
}

async function scanWithin(searcher: Searcher, plan: ScanPlan, work: Work): Promise<SearchAnswer> {
  const { mode, offset, limit } = plan;
  const live = new LiveSearch(searcher, plan.find);
  let skip = plan.isExact && plan.isIndexed ? offset : 0;
  let page = await nextPage(searcher, plan, { wanted: limit + 1 + offset - skip, skip, known: [] });
  if (page.unsearched) await live.read(page.unsearched);
  let calls = 1;
  if (skip > 0 && (live.searched.size > 0 || page.walked)) {
    // The database skipped results without counting the live reads, or only among the first texts: start over.
    skip = 0;
    calls++;
    page = await nextPage(searcher, plan, { wanted: limit + 1 + offset, skip, known: [...live.searched] });
    if (page.unsearched) live.note(page.unsearched);
  }
  const { pending, scope, stage } = page;
  if (work.add(live.work.units)) await work.pause();
  const results: SearchResult[] = [];
  const answer = (hasMore: boolean): SearchAnswer => ({
    ...{ mode, results, hasMore, pending },
    notSearched: live.notSearched,
    scope: scope === null ? null : { scope, stage },
  });
  const unfinished = () => {
    if (results.length > 0) return answer(true);
    fail(
      "SEARCH_TOO_BROAD",
      "The search would have to read too much text. Narrow it: use a longer literal, a directory or a glob.",
    );
  };
  let toSkip = offset - skip;
  /** Adds a result to the page. Returns true where the page is full, so that this result begins the next one. */
  const isBeyond = (result: SearchResult) => {
    if (toSkip-- > 0) return false;
    if (results.length === limit) return true;
    results.push(result);
    return false;
  };
  let bytes = 0;
  let walks = 0;
  for (;; calls++) {
    for (const found of page.files) {
      for (let read = live.next(found.file.path); read; read = live.next(found.file.path)) {
        if (isBeyond(read)) return answer(true);
      }
      bytes += found.file.size;
      if (live.searched.has(found.file.id)) continue;
      const result = await matchFile(found, plan.find, work);
      if (result === "exhausted") return unfinished();
      if (result && isBeyond(result)) return answer(true);
    }
    const after = page.next;
    if (after === null) break;
    if (page.walked) {
      walks++;
      searcher.gate.addWork(1 / SEARCH_WALKS_PER_REQUEST);
    }
    if (bytes > SEARCH_READ_BYTES_MAX || calls >= SEARCH_CALLS_MAX || walks === SEARCH_WALKS_MAX) {
      return unfinished();
    }
    const wanted = Math.max(toSkip, 0) + limit - results.length + 1;
    page = await nextPage(searcher, plan, { after, wanted, skip: 0, known: [...live.searched] });
    if (page.unsearched) live.note(page.unsearched);
  }
  for (let read = live.next(); read; read = live.next()) if (isBeyond(read)) return answer(true);
  return answer(false);
}

async function nextPage(
  { gate, metadata }: Searcher,
  { directory, glob, contentType, clauses, caseSensitive, isExact }: ScanPlan,
  { after, wanted, skip, known }: PageRequest,
): Promise<SearchPage> {
  const isFirst = after === undefined && known.length === 0;
  return gate.unwrap(
    await metadata.search(gate.caller, {
      kind: "scan",
      clauses,
      caseSensitive,
      directory,
      glob,
      contentType,
      after,
      files: isExact ? Math.min(wanted, SEARCH_BATCH_FILES) : SEARCH_BATCH_FILES,
      skip,
      bytes: SEARCH_BATCH_BYTES,
      ...isFirst ? { live: LIVE_BOUNDS } : { known },
    }),
  );
}
