/** Search by words and meaning: the database ranks files, and here the lines that speak of it are picked. */
import type { Context } from "../context.ts";
import { endOfLine, type MatchingLine } from "./matching_lines.ts";
import { passagesOf } from "./passages.ts";
import { type Match, matchOf, NUL_STAND_IN } from "./snippet.ts";
import { ApiError, fail } from "../errors.ts";
import { SEARCH_BATCH_BYTES } from "../limits.ts";
import type { FoundFile, SearchFilter } from "../ports/search_index.ts";
import type { SearchAnswer } from "./scan.ts";

export interface RankQuery extends Pick<SearchFilter, "directory" | "glob" | "contentType"> {
  readonly q: string;
  readonly mode: "semantic" | "hybrid";
  readonly limit: number;
  readonly offset: number;
}

/** `lexical` is what is left of `hybrid` without a model. */
export type RankedMode = "semantic" | "hybrid" | "lexical";

/** Throws SEMANTIC_SEARCH_UNAVAILABLE, and for `semantic` SERVICE_UNAVAILABLE where the model does not answer. */
export async function rank(context: Context, query: RankQuery): Promise<SearchAnswer & { mode: RankedMode }> {
  const { gate, metadata, embedder } = context;
  if (query.mode === "semantic" && !embedder) refuseSemantic();
  const vector = await vectorOf(context, query);
  const page = gate.unwrap(
    await metadata.search(gate.caller, {
      kind: "rank",
      ...(query.mode === "hybrid" && { words: query.q }),
      ...(vector && { vector, model: embedder?.model }),
      directory: query.directory,
      glob: query.glob,
      contentType: query.contentType,
      files: query.limit,
      skip: query.offset,
      bytes: SEARCH_BATCH_BYTES,
    }),
  );
  if (query.mode === "semantic" && !page.hasVectors) refuseSemantic();
  const results = page.files.map((found) => ({
    ...found.file,
    score: found.score,
    matches: matchesOf(found, page.lexemes),
    ...(found.skipped && { skipped: found.skipped }),
  }));
  const mode = vector && page.hasVectors ? query.mode : "lexical";
  return { results, hasMore: page.hasMore, pending: page.pending, mode };
}

function refuseSemantic(): never {
  fail("SEMANTIC_SEARCH_UNAVAILABLE", "Search by meaning is not set up here. Use hybrid, text or regex.");
}

/** Hybrid goes without a model that does not answer. */
async function vectorOf(
  { gate, embedder }: Context,
  { q, mode }: RankQuery,
): Promise<readonly number[] | undefined> {
  if (!embedder) return undefined;
  // No model is asked for somebody whose key has not been admitted.
  if (!gate.grant) await gate.authorize();
  try {
    const [vector] = await embedder.embed([q]);
    return vector;
  } catch (error) {
    if (mode === "hybrid" && error instanceof ApiError) return undefined;
    throw error;
  }
}

function matchesOf({ skipped, content, chunk }: FoundFile, lexemes: readonly string[]): Match[] {
  if (skipped) return [];
  const passages = passagesOf(content, lexemes);
  const lines = passages.length > 0 || !chunk ? passages : firstLineOf(content, chunk.firstLine, chunk.text);
  return lines.map((line) => matchOf(content, line));
}

/** The first line of a chunk that is not blank. */
function firstLineOf(content: string, firstLine: number, chunk: string): MatchingLine[] {
  let from = 0;
  for (let line = 1; line < firstLine; line++) from = endOfLine(content, from) + 1;
  // A chunk may begin within a long line.
  const start = Math.max(from, content.indexOf(chunk, from));
  const blank = /^\s*/.exec(chunk)?.[0] ?? "";
  const line = firstLine + (blank.match(/\n/g)?.length ?? 0);
  const at = start + blank.length;
  const lineStart = content.lastIndexOf("\n", at - 1) + 1;
  return chunk.includes(NUL_STAND_IN) && at > content.length
    ? []
    : [{ line, from: lineStart, to: endOfLine(content, at), at }];
}
