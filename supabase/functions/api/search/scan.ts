/** Search by substring or pattern: the database selects files that may match, and their lines are searched here. */
import { fail } from "../errors.ts";
import {
  SEARCH_BATCH_BYTES,
  SEARCH_BATCH_FILES,
  SEARCH_CALLS_MAX,
  SEARCH_MATCHES_PER_FILE_MAX,
  SEARCH_READ_BYTES_MAX,
  SEARCH_UNITS_MAX,
  SEARCH_WALKS_MAX,
} from "../limits.ts";
import type { FoundFile, SearchPage } from "../ports/search_index.ts";
import type { SearchAnswer, Searcher, SearchResult } from "./answer.ts";
import { Work } from "../runtime/work.ts";
import type { MatchingLine } from "./matching_lines.ts";
import type { ScanPlan } from "./plan.ts";
import { describeMatch } from "./snippet.ts";

/** Of the text that the database returns this much is parsed in the time of one unit of work. */
const CONTENT_LENGTH_PER_UNIT = 2;

/** The search has done SEARCH_UNITS_MAX of work. */
class Exhausted extends Error {
  override readonly name = "Exhausted";
}

/**
 * Returns one page, by path. It may be shorter than `limit` with more to come, where files are large. Throws
 * SEARCH_TOO_BROAD where SEARCH_READ_BYTES_MAX, SEARCH_UNITS_MAX, SEARCH_CALLS_MAX or SEARCH_WALKS_MAX is reached before
 * anything is found. None of them is a time, so the same search has the same answer however busy the database is.
 */
export async function scan(
  searcher: Searcher,
  plan: ScanPlan,
): Promise<SearchAnswer> {
  const work = new Work(SEARCH_UNITS_MAX, () => {
    throw new Exhausted();
  });
  const { mode } = plan;
  const results: SearchResult[] = [];
  let toSkip = plan.isExact && plan.isIndexed ? 0 : plan.offset;
  let bytes = 0;
  let walks = 0;
  let after: string | undefined;
  for (let calls = 1;; calls++) {
    const { files, next, walked, pending } = await nextPage(
      searcher,
      plan,
      after,
      Math.max(toSkip, 0) + plan.limit - results.length + 1,
    );
    const unfinished = () => {
      if (results.length === 0) throwTooBroad();
      return { mode, results, hasMore: true, pending };
    };
    for (const found of files) {
      bytes += found.file.size;
      const result = await matchFile(found, plan, work);
      if (result === "exhausted") return unfinished();
      if (result === null || toSkip-- > 0) continue;
      if (results.length === plan.limit) return { mode, results, hasMore: true, pending };
      results.push(result);
    }
    if (next === null) return { mode, results, hasMore: false, pending };
    if (walked) walks++;
    if (bytes > SEARCH_READ_BYTES_MAX || calls === SEARCH_CALLS_MAX || walks === SEARCH_WALKS_MAX) {
      return unfinished();
    }
    after = next;
  }
}

async function nextPage(
  { gate, metadata }: Searcher,
  { directory, glob, contentType, clauses, caseSensitive, isExact, isIndexed, offset }: ScanPlan,
  after: string | undefined,
  wanted: number,
): Promise<SearchPage> {
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
      skip: isExact && isIndexed && after === undefined ? offset : 0,
      bytes: SEARCH_BATCH_BYTES,
    }),
  );
}

async function matchFile(
  { file, skipped, content }: FoundFile,
  { find }: ScanPlan,
  work: Work,
): Promise<SearchResult | null | "exhausted"> {
  const lines: MatchingLine[] = [];
  let count = 0;
  try {
    if (work.add(content.length / CONTENT_LENGTH_PER_UNIT)) await work.pause();
    for (const line of find(content, work)) {
      if (line === null) await work.pause();
      else if (count++ < SEARCH_MATCHES_PER_FILE_MAX) lines.push(line);
    }
  } catch (error) {
    if (error instanceof Exhausted) return "exhausted";
    throw error;
  }
  if (count === 0) return null;
  // The content of a skipped file is its path.
  if (skipped) return { ...file, score: 0, matches: [], skipped };
  return { ...file, score: count, matches: lines.map((line) => describeMatch(content, line)) };
}

function throwTooBroad(): never {
  fail(
    "SEARCH_TOO_BROAD",
    "The search would have to read too much text. Use a longer literal, a directory or a glob.",
  );
}
