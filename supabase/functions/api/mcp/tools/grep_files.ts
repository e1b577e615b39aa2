import { z } from "zod";
import type { Context } from "../../context.ts";
import {
  MCP_GREP_LINES_DEFAULT,
  MCP_GREP_LINES_MAX,
  PAGE_LIMIT_MAX,
  SEARCH_QUERY_LENGTH_MAX,
} from "../../limits.ts";
import { directoryOf } from "../../http/path.ts";
import type { SearchAnswer } from "../../search/answer.ts";
import { pathPattern } from "../../search/glob.ts";
import { planSearch, type ScanPlan } from "../../search/plan.ts";
import { scan } from "../../search/scan.ts";
import { flag, folder, glob, plainText, whole } from "../arguments.ts";
import { Lines, shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
import { describeUnsearched, someOf } from "../unsearched.ts";
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
    return describe(found, limit);
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

function describe({ results, hasMore, notSearched }: SearchAnswer, limit: number): string {
  const skipped = results.filter((result) => result.skipped).map(({ path }) => path);
  const rest = [
    ...skipped.length > 0
      ? [`Only the names of these were searched: ${someOf(skipped, skipped.length)}`]
      : [],
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
    lines.count === 0 && !isCut ? noLine(notSearched) : `${lines}`,
    ...isCut ? ["More lines match: raise limit, or narrow it with path, glob or a longer pattern."] : [],
    ...rest === "" ? [] : [rest],
  ].join("\n");
}

function noLine(notSearched: SearchAnswer["notSearched"]): string {
  return notSearched ? "No line of the searched files matches." : "No line matches.";
}
