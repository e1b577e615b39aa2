/** Search by words and meaning: the database ranks files, and the function picks the best lines of each. */
import type { Match, SearchResult } from "../contract/search.ts";
import { ApiError, fail } from "../errors.ts";
import { SEARCH_RANKED_BYTES, SEARCH_UNITS_MAX, WORK_UNITS_PER_REQUEST } from "../limits.ts";
import type { Embedder } from "../ports/search_index.ts";
import type { FoundFile } from "../ports/schemas.ts";
import { Work } from "../runtime/work.ts";
import type { SearchAnswer, Searcher } from "./answer.ts";
import { endOfLine, type MatchingLine } from "./matching_lines.ts";
import { findPassages } from "./passages.ts";
import type { RankPlan } from "./plan.ts";
import { describeMatch, NUL_STAND_IN } from "./snippet.ts";
import { substringSearch } from "./substring_search.ts";
import { unsearchedOf } from "./unsearched.ts";

/** Throws SEMANTIC_SEARCH_UNAVAILABLE; for `semantic` also SERVICE_UNAVAILABLE where the model is out of reach. */
export async function rank(searcher: Searcher, plan: RankPlan): Promise<SearchAnswer> {
  const { gate, metadata, embedder } = searcher;
  if (plan.mode === "semantic" && !embedder) throwUnconfigured();
  const [vector, formerVector] = await embedQuery(searcher, plan);
  const page = gate.unwrap(
    await metadata.search(gate.caller, {
      kind: "rank",
      ...(plan.mode === "hybrid" ? { words: plan.q } : { names: plan.q }),
      ...(vector && { vector, model: embedder?.model }),
      ...(vector && formerVector && embedder?.former &&
        { former: { model: embedder.former.model, vector: formerVector } }),
      directory: plan.directory,
      glob: plan.glob,
      contentType: plan.contentType,
      files: plan.limit,
      skip: plan.offset,
      bytes: SEARCH_RANKED_BYTES,
    }),
  );
  if (plan.mode === "semantic" && !page.hasVectors) throwUnconfigured();
  const work = new Work(SEARCH_UNITS_MAX);
  const results: SearchResult[] = [];
  for (const found of page.files) {
    results.push({
      ...found.file,
      score: found.score,
      matches: await findMatches(found, page.lexemes, work),
      ...(found.skipped && { skipped: found.skipped }),
    });
  }
  gate.addWork(work.units / WORK_UNITS_PER_REQUEST);
  const mode = vector && page.hasVectors ? plan.mode : "lexical";
  const { hasMore, pending, scope, stage, unsearched } = page;
  return {
    ...{ mode, results, hasMore, pending },
    notSearched: unsearched && unsearchedOf(unsearched, page.isVectorCut),
    scope: scope === null ? null : { scope, stage },
  };
}

function throwUnconfigured(): never {
  fail(
    "SEMANTIC_SEARCH_UNAVAILABLE",
    "Search by meaning is not configured in this service. Use mode hybrid, text or regex.",
  );
}

type QueryVector = readonly number[] | undefined;

/**
 * The query's vectors by the present and the former model. A vector is undefined without such a model, and where a
 * former model, or the model of a `hybrid` search, is out of reach: then the answer lists the files that were not
 * searched.
 */
async function embedQuery(
  { gate, embedder }: Searcher,
  { q, mode }: RankPlan,
): Promise<readonly [present: QueryVector, former: QueryVector]> {
  if (!embedder) return [undefined, undefined];
  // The model is called only for a key that the database has authorized.
  if (!gate.grant) await gate.authorize();
  const vectorBy = async (model: Embedder, isOptional: boolean): Promise<QueryVector> => {
    try {
      const [vector] = await model.embed([q]);
      return vector;
    } catch (error) {
      if (isOptional && error instanceof ApiError) return undefined;
      throw error;
    }
  };
  return await Promise.all([
    vectorBy(embedder, mode === "hybrid"),
    embedder.former ? vectorBy(embedder.former, true) : undefined,
  ]);
}

async function findMatches(
  { skipped, content, chunk }: FoundFile,
  lexemes: readonly string[],
  work: Work,
): Promise<Match[]> {
  if (skipped) return [];
  const passages = await findPassages(content, lexemes, work);
  const lines = passages.length > 0 || !chunk ? passages : firstLine(content, chunk.firstLine, chunk.text);
  return lines.map((line) => describeMatch(content, line));
}

/** The first line of a chunk that is not blank. */
function firstLine(content: string, chunkLine: number, chunk: string): MatchingLine[] {
  let from = 0;
  for (let line = 1; line < chunkLine; line++) from = endOfLine(content, from) + 1;
  // The chunk may begin within a long line.
  const start = Math.max(from, substringSearch(chunk)(content, from));
  const blank = /^\s*/.exec(chunk)?.[0] ?? "";
  const line = chunkLine + (blank.match(/\n/g)?.length ?? 0);
  const at = start + blank.length;
  const lineStart = content.lastIndexOf("\n", at - 1) + 1;
  return chunk.includes(NUL_STAND_IN) && at > content.length
    ? []
    : [{ line, from: lineStart, to: endOfLine(content, at), at }];
}
