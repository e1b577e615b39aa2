/** GET /search: files by substring, pattern, words and meaning. */
import { z } from "zod";
import { mediaType } from "../contract/media_types.ts";
import { requestedMode } from "../contract/search.ts";
import { normalizeDirectory } from "../http/path.ts";
import { validateQuery } from "../http/validate.ts";
import {
  SEARCH_GLOB_LENGTH_MAX,
  SEARCH_OFFSET_MAX,
  SEARCH_QUERY_LENGTH_MAX,
  SEARCH_WAIT_SECONDS_MAX,
  SEARCH_WAITERS_MAX,
} from "../limits.ts";
import { planSearch } from "../search/plan.ts";
import { runSearch } from "../search/run.ts";
import { defineRoute } from "../route.ts";
import { pageLimit, truth, wholeNumber, withoutNul } from "./schemas.ts";
import { counted } from "../runtime/counted.ts";

const query = z.object({
  q: z.string().min(1, "must not be empty").max(SEARCH_QUERY_LENGTH_MAX).refine(...withoutNul),
  mode: requestedMode.default("hybrid").meta({
    description:
      '`text`: a substring, as `grep -F`. `regex`: an extended regular expression, as `grep -E`, without back-references, `\\b` and look-around. `semantic`: by meaning. `hybrid`: by words (`"a phrase"`, `or`, `-not`) and meaning.',
  }),
  directory: z.string().default("/").meta({ description: "Search the files below this directory." }),
  glob: z.string().min(1).max(SEARCH_GLOB_LENGTH_MAX).refine(...withoutNul).optional().meta({
    description:
      "`*.ts`: names at any depth; with a slash, paths below the directory: `src/**/*.ts`. `*`, `?`, `**`, `[abc]`, `{a,b}`.",
  }),
  contentType: mediaType.optional(),
  caseSensitive: truth.default(true).meta({ description: "In `text` and `regex`." }),
  limit: pageLimit,
  offset: wholeNumber(0, SEARCH_OFFSET_MAX).default(0),
  wait: wholeNumber(0, SEARCH_WAIT_SECONDS_MAX).default(0).meta({
    description:
      `Seconds to wait until everything below the directory is indexed. At most ${SEARCH_WAITERS_MAX} searches of a ` +
      "project wait in one isolate; further ones are answered at once.",
  }),
}).refine(({ q, mode }) => mode === "semantic" || mode === "hybrid" || !q.includes("\n"), {
  path: ["q"],
  message: "must be a single line",
});

export const search = defineRoute({
  operation: "search_files",
  allows: { read: "search files" },
  parse(data) {
    const { directory, wait, ...parameters } = validateQuery(query, data.query);
    return { plan: planSearch({ ...parameters, directory: normalizeDirectory(directory) }), wait };
  },
  async handle(context, { plan, wait }) {
    const { results, mode, hasMore, pending, notSearched } = await runSearch(context, plan, wait);
    const { limit, offset } = plan;
    const skipped = notSearched ? `; ${counted(notSearched.files, "file")} not searched` : "";
    return {
      data: {
        results,
        mode,
        hasMore,
        limit,
        offset,
        indexed: { pending },
        ...notSearched && { notSearched },
      },
      message: `${counted(results.length, "file")}${skipped}.`,
    };
  },
  openapi: {
    summary: "Search the current text of files",
    query,
    answer: "searchResults",
    errors: ["INVALID_PATH", "SEARCH_TOO_BROAD", "SEMANTIC_SEARCH_UNAVAILABLE"],
  },
});
