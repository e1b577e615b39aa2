/** Search as a client uses it, and waiting for the index to have followed. */
import type { z } from "zod";
import { searchResults } from "../../../supabase/functions/api/contract/search.ts";
import { type Answer, dataOf } from "./contract.ts";
import type { Files } from "./files.ts";

export { searchResults };
export type SearchResults = z.infer<typeof searchResults>;

type Query = Readonly<Record<string, string | number | boolean>>;

export function trySearch(files: Files, q: string, query: Query = {}): Promise<Answer> {
  return files.request("GET", "/search", { query: { q, ...query } });
}

export async function search(files: Files, q: string, query: Query = {}): Promise<SearchResults> {
  return dataOf(await trySearch(files, q, query), "search_files", searchResults);
}

/** All pages. */
export async function searchAll(
  files: Files,
  q: string,
  query: Query = {},
): Promise<SearchResults["results"]> {
  const results: SearchResults["results"] = [];
  for (;;) {
    const page = await search(files, q, { limit: 100, ...query, offset: results.length });
    results.push(...page.results);
    if (!page.hasMore) return results;
  }
}

export function pathsOf({ results }: Pick<SearchResults, "results">): string[] {
  return results.map(({ path }) => path);
}

/** Waits, as a client would, until nothing of the project waits to be indexed. */
export async function settled(files: Files, milliseconds = 60_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while ((await search(files, "x", { mode: "text", limit: 1 })).indexed.pending > 0) {
    if (Date.now() > deadline) throw new Error("files are still not indexed");
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

interface Database {
  sql<Row>(statement: string, parameters: readonly unknown[]): Promise<Row[]>;
}

/**
 * Waits until nothing is left to be indexed in the project, or in all projects. It asks the database, so it sets nothing
 * off: files that a killed function had claimed stay queued until the next commit or search. Where tests of other files
 * share the service, wait for a project.
 */
export async function indexed(service: Database, projectId?: string, milliseconds = 60_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const [row] = await service.sql<{ count: string | number }>(
      "select count(*) as count from filestore.search_queue where project_id = $1 or $1 is null",
      [projectId ?? null],
    );
    if (Number(row?.count) === 0) return;
    if (Date.now() > deadline) throw new Error(`${row?.count} files are still not indexed`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
