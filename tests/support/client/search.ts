/** Searches as a client does, and waits until the index is up to date. */
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

/** The results of all pages. */
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

/** Waits, as a client would, until no file of the project is waiting to be indexed. */
export async function settled(files: Files, milliseconds = 300_000): Promise<void> {
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
 * Waits until no file is waiting to be indexed, in the project or in all projects. It asks the database and therefore
 * starts no indexing: files leased by a killed function stay queued until the next commit or search. Tests that share
 * the service with other files wait for a project.
 */
export async function indexed(service: Database, projectId?: string, milliseconds = 300_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  for (;;) {
    const [row] = await service.sql<{ count: string | number }>(
      "select count(*) as count from filestore.search_queue where project_id = $1 or $1 is null",
      [projectId ?? null],
    );
    if (Number(row?.count) === 0) return;
    if (Date.now() > deadline) {
      const left = await service.sql(
        `select to_jsonb(q) || jsonb_build_object('now', clock_timestamp()) as row from filestore.search_queue q
         where q.project_id = $1 or $1 is null limit 5`,
        [projectId ?? null],
      );
      throw new Error(`${row?.count} files are still not indexed: ${JSON.stringify(left)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
