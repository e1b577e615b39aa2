import { z } from "zod";
import type { Context } from "../../context.ts";
import type { Unsearched, UnsearchedReason } from "../../contract/search.ts";
import { directoryOf } from "../../http/path.ts";
import {
  MCP_GREP_LINES_DEFAULT,
  MCP_GREP_LINES_MAX,
  MCP_SEARCH_WAIT_SECONDS,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  SEARCH_QUERY_LENGTH_MAX,
} from "../../limits.ts";
import { counted } from "../../runtime/counted.ts";
import type { SearchAnswer } from "../../search/answer.ts";
import { pathPattern } from "../../search/glob.ts";
import { planSearch, type ScanPlan } from "../../search/plan.ts";
import { runSearch } from "../../search/run.ts";
import { scan } from "../../search/scan.ts";
import { flag, folder, glob, plainText, whole } from "../arguments.ts";
import { Lines, shownPath } from "../text.ts";
import { defineTool } from "../tool.ts";

export const grepFiles = defineTool({
  name: "grep_files",
  title: "Find text in files",
  description:
    "Finds lines that contain a text, as `grep -F` does, or match an extended regular expression with regex=true " +
    "(as `grep -E`, without \\b, look-around and back-references). Each result is path:line: text. Use it to find " +
    "an exact name or phrase; to find files about a subject, use search_files. Then read_file around the line.",
  scopes: ["read"],
  effect: "reads",
  input: z.object({
    pattern: plainText("The text or expression, on one line.", SEARCH_QUERY_LENGTH_MAX)
      .refine((pattern) => !pattern.includes("\n"), "must be a single line"),
    regex: flag("Whether pattern is a regular expression."),
    path: folder("A folder or file to search; empty for all files."),
    glob,
    ignore_case: flag("Whether to ignore case."),
    limit: whole("How many lines to show.", 1, MCP_GREP_LINES_MAX).default(MCP_GREP_LINES_DEFAULT),
  }),
  async run(context, { pattern, regex, path, glob, ignore_case, limit }) {
    const plan = planSearch({
      q: pattern,
      mode: regex ? "regex" : "text",
      directory: path,
      glob,
      caseSensitive: !ignore_case,
      limit: Math.min(limit, PAGE_LIMIT_MAX),
      offset: 0,
    });
    if (plan.kind !== "scan") throw new Error("a search for lines is a scan");
    context.onEnd(await context.beginCostly());
    const found = await scanBelowOrIn(context, plan);
    if (found.pending > 0) context.onPending();
    return describeLines(found, limit);
  },
});

/** Searches below the folder, and where nothing is found there, the file of that path. */
async function scanBelowOrIn(context: Context, plan: ScanPlan): Promise<SearchAnswer> {
  const found = await scan(context, plan);
  const { directory } = plan;
  if (found.results.length > 0 || directory === "" || plan.glob !== undefined) return found;
  const inFile = await scan(context, {
    ...plan,
    directory: directoryOf(directory),
    glob: pathPattern(directory),
  });
  return { ...inFile, notSearched: inFile.notSearched ?? found.notSearched };
}

function describeLines({ results, hasMore, notSearched }: SearchAnswer, limit: number): string {
  const skipped = results.filter((result) => result.skipped).map(({ path }) => path);
  const named = `Only the names of these were searched: ${someOf(skipped, skipped.length)}`;
  const rest = [
    ...skipped.length > 0 ? [named] : [],
    ...notSearched ? [describeUnsearched(notSearched)] : [],
  ].join("\n");
  const lines = new Lines(rest.length + 200);
  let isCut = hasMore;
  for (const { path: plain, score, matches, skipped } of results) {
    if (skipped) continue;
    const path = shownPath(plain);
    for (const { line, snippet } of matches) {
      if (lines.count < limit && lines.add(`${path}:${line}: ${snippet}`)) continue;
      isCut = true;
      break;
    }
    if (isCut && lines.count >= limit) break;
    const more = score - matches.length;
    if (
      more > 0 &&
      !lines.add(`${path}: ${counted(more, "more matching line")}: narrow the pattern, or read it`)
    ) {
      isCut = true;
    }
  }
  return [
    lines.count === 0 && !isCut
      ? `No line${notSearched ? " of the searched files" : ""} matches.`
      : `${lines}`,
    ...isCut ? ["More lines match: raise limit, or narrow it with path, glob or a longer pattern."] : [],
    ...rest === "" ? [] : [rest],
  ].join("\n");
}

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
    return describeFiles(await runSearch(context, plan, MCP_SEARCH_WAIT_SECONDS));
  },
});

function describeFiles({ results, hasMore, notSearched }: SearchAnswer): string {
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

/** Longest list of paths, in UTF-16 code units; the first path is always shown. */
const PATHS_LENGTH_MAX = 800;

/** Why a file was not searched, and what the model can do. */
const WORDS: Readonly<Record<UnsearchedReason, string>> = {
  too_large: "too large for this search: grep_files reads up to 10 MB, read_file any size",
  bounds: "more text than one search may read: narrow the search with path or glob",
  pending: "changed just now: try again in a few seconds",
  not_indexable: "could not be indexed: use grep_files or read_file",
  too_many_words: "only the words at its beginning are indexed: use grep_files",
  busy: "other searches were running: try again",
  unreadable: "could not be read just now: try again",
};

/** Lists the files that were not searched, why, and what to do. */
function describeUnsearched({ files, paths, reasons }: Unsearched): string {
  const why = reasons.map((reason) => WORDS[reason]).join("; ");
  return `NOT SEARCHED: ${counted(files, "file")} (${why}): ${someOf(paths, files)}`;
}

/** The paths that fit, and the number of further files. */
export function someOf(paths: readonly string[], files: number): string {
  let shown = "";
  let count = 0;
  for (const path of paths) {
    const name = shownPath(path);
    if (count > 0 && shown.length + name.length > PATHS_LENGTH_MAX) break;
    shown += `${count++ === 0 ? "" : ", "}${name}`;
  }
  return count === files ? shown : `${shown}, and ${files - count} more`;
}
