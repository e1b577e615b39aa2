/** Search by substring or pattern: the database names files that may match, and here each line is looked at. */
import type { Context } from "../context.ts";
import { TooLong } from "./lazy_dfa.ts";
import type { Finder, MatchingLine } from "./matching_lines.ts";
import type { Clauses } from "./required_literals.ts";
import { type Match, matchOf } from "./snippet.ts";
import { fail } from "../errors.ts";
import {
  SEARCH_BATCH_BYTES,
  SEARCH_BATCH_FILES,
  SEARCH_MATCHES_PER_FILE_MAX,
  SEARCH_READ_BYTES_MAX,
} from "../limits.ts";
import type { FileRecord } from "../ports/files.ts";
import type { FoundFile, SearchFilter, SearchPage, Skipped } from "../ports/search_index.ts";

/** One file of the answer: its record, and what was found in it. */
export interface SearchResult extends FileRecord {
  readonly score: number;
  readonly matches: readonly Match[];
  readonly skipped?: Skipped | undefined;
}

export interface SearchAnswer {
  readonly results: readonly SearchResult[];
  readonly hasMore: boolean;
  readonly pending: number;
}

export interface ScanQuery extends Pick<SearchFilter, "directory" | "glob" | "contentType"> {
  readonly clauses: Clauses;
  /** Whether every file that holds the literals matches: then the database itself skips what comes before the page. */
  readonly isExact: boolean;
  readonly caseSensitive: boolean;
  readonly find: Finder;
  readonly isOver: () => boolean;
  readonly limit: number;
  readonly offset: number;
}

/**
 * One page, by path. It may be shorter than `limit` with more to come, where files are large. Throws SEARCH_TOO_BROAD
 * where the bounds are reached before anything is found.
 */
export async function scan(context: Context, query: ScanQuery): Promise<SearchAnswer> {
  const results: SearchResult[] = [];
  let toSkip = query.isExact ? 0 : query.offset;
  let bytes = 0;
  let after: string | undefined;
  for (;;) {
    const page = await nextPage(context, query, after);
    for (const found of page.files) {
      bytes += found.file.size;
      const result = lookInto(found, query);
      if (result === "too long") return unfinished(results, page.pending);
      if (result === null || toSkip-- > 0) continue;
      if (results.length === query.limit) return { results, hasMore: true, pending: page.pending };
      results.push(result);
    }
    if (page.next === null) return { results, hasMore: false, pending: page.pending };
    if (bytes > SEARCH_READ_BYTES_MAX || query.isOver()) return unfinished(results, page.pending);
    after = page.next;
  }
}

async function nextPage(
  { gate, metadata }: Context,
  query: ScanQuery,
  after: string | undefined,
): Promise<SearchPage> {
  const { directory, glob, contentType, clauses, caseSensitive } = query;
  return gate.unwrap(
    await metadata.search(gate.caller, {
      kind: "scan",
      clauses,
      caseSensitive,
      directory,
      glob,
      contentType,
      after,
      files: query.isExact ? query.limit + 1 : SEARCH_BATCH_FILES,
      skip: query.isExact && after === undefined ? query.offset : 0,
      bytes: SEARCH_BATCH_BYTES,
    }),
  );
}

function lookInto(
  { file, skipped, content }: FoundFile,
  { find }: ScanQuery,
): SearchResult | null | "too long" {
  const lines: MatchingLine[] = [];
  let count = 0;
  try {
    for (const line of find(content)) {
      if (count++ < SEARCH_MATCHES_PER_FILE_MAX) lines.push(line);
    }
  } catch (error) {
    if (error instanceof TooLong) return "too long";
    throw error;
  }
  if (count === 0) return null;
  // Of a skipped file the name was looked into.
  if (skipped) return { ...file, score: 0, matches: [], skipped };
  return { ...file, score: count, matches: lines.map((line) => matchOf(content, line)) };
}

function unfinished(results: readonly SearchResult[], pending: number): SearchAnswer {
  if (results.length > 0) return { results, hasMore: true, pending };
  fail(
    "SEARCH_TOO_BROAD",
    "This would have to look at too much text. Name a longer literal, a directory or a glob.",
  );
}
