import { z } from "zod";
import {
  MCP_SEARCH_WAIT_SECONDS,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  SEARCH_QUERY_LENGTH_MAX,
} from "../../limits.ts";
import type { SearchAnswer } from "../../search/answer.ts";
import { planSearch } from "../../search/plan.ts";
import { runSearch } from "../../search/run.ts";
import { folder, glob, plainText, whole } from "../arguments.ts";
import { Lines, shownPath } from "../text.ts";
import { describeUnsearched } from "../unsearched.ts";
import { defineTool } from "../tool.ts";

export const searchFiles = defineTool({
  name: "search_files",
  title: "Search files",
  description:
    "Finds the files about a subject, best first, by words and, if that is configured, by meaning. Shows the " +
    'lines that match. Ask in a few words; "a phrase", or, and -not work. For an exact text, use grep_files.',
  scopes: ["read"],
  effect: "reads",
  input: z.object({
    query: plainText("What to search for.", SEARCH_QUERY_LENGTH_MAX),
    path: folder("A folder to search; empty for all files."),
    glob,
    limit: whole("How many files to show.", 1, PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  }),
  async run(context, { query, path, glob, limit }) {
    const plan = planSearch({
      q: query,
      mode: "hybrid",
      directory: path,
      glob,
      caseSensitive: true,
      limit,
      offset: 0,
    });
    if (plan.kind !== "rank") throw new Error("a search by words is ranked");
    return describe(await runSearch(context, plan, MCP_SEARCH_WAIT_SECONDS));
  },
});

function describe({ results, hasMore, notSearched }: SearchAnswer): string {
  const unsearched = notSearched ? [describeUnsearched(notSearched)] : [];
  const lines = new Lines(unsearched.join().length + 200);
  const left = lines.addAll(results.map(({ path, version, matches }) => {
    const shown = matches.map(({ line, snippet }) => `  ${line}: ${snippet.trim()}`);
    return [`${shownPath(path)} — version ${version}`, ...shown].join("\n");
  }));
  return [
    ...unsearched,
    results.length === 0 ? "No file was found. Try other words, or list_files." : `${lines}`,
    ...hasMore || left > 0 ? ["More files were found: narrow it with path, glob or other words."] : [],
  ].join("\n");
}
