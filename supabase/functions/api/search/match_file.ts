/** The matches of a pattern in one text. */
import type { SearchResult } from "../contract/search.ts";
import { SEARCH_MATCHES_PER_FILE_MAX } from "../limits.ts";
import type { FoundFile } from "../ports/schemas.ts";
import type { Work } from "../runtime/work.ts";
import type { Finder, MatchingLine } from "./matching_lines.ts";
import { describeMatch } from "./snippet.ts";

/** Characters of a text that are parsed or decoded in the time of one unit of work. */
const CONTENT_LENGTH_PER_UNIT = 2;

class Exhausted extends Error {
  override readonly name = "Exhausted";
}

/** The `onExceeded` of a search's work. */
export function throwExhausted(): never {
  throw new Exhausted();
}

/** Null: no line matches. */
export async function matchFile(
  { file, skipped, content }: Pick<FoundFile, "file" | "skipped" | "content">,
  find: Finder,
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
