/** GET /search: files by substring, pattern, words and meaning. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { normalizeDirectory } from "../http/path.ts";
import { pick } from "../http/query.ts";
import type { RequestData } from "../http/request_data.ts";
import { success } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import {
  PAGE_LIMIT_DEFAULT,
  SEARCH_GLOB_LENGTH_MAX,
  SEARCH_OFFSET_MAX,
  SEARCH_QUERY_LENGTH_MAX,
  SEARCH_UNSEARCHED_PATHS_MAX,
  SEARCH_WAIT_SECONDS_MAX,
  SEARCH_WAITERS_MAX,
} from "../limits.ts";
import { planSearch } from "../search/plan.ts";
import { UNSEARCHED_REASONS } from "../ports/search_index.ts";
import { runSearch } from "../search/run.ts";
import { defineRoute } from "../route.ts";
import { EXAMPLE_RECORD, fileRecord, mediaType, pageLimit, wholeNumber, withoutNul } from "./schemas.ts";

const query = z.object({
  q: z.string().min(1, "must not be empty").max(SEARCH_QUERY_LENGTH_MAX).refine(...withoutNul),
  mode: z.enum(["text", "regex", "semantic", "hybrid"]).default("hybrid").meta({
    description:
      '`text`: a substring, as `grep -F`. `regex`: an extended regular expression, as `grep -E`, without back-references, `\\b` and look-around. `semantic`: by meaning. `hybrid`: by words (`"a phrase"`, `or`, `-not`) and meaning.',
  }),
  directory: z.string().default("/").meta({ description: "Everything below it." }),
  glob: z.string().min(1).max(SEARCH_GLOB_LENGTH_MAX).refine(...withoutNul).optional().meta({
    description:
      "`*.ts`: names at any depth; with a slash, paths below the directory: `src/**/*.ts`. `*`, `?`, `**`, `[abc]`, `{a,b}`.",
  }),
  contentType: mediaType.optional(),
  caseSensitive: z.string().regex(/^(true|false)$/, "must be true or false").transform((text) =>
    text === "true"
  )
    .default(true).meta({ type: "boolean", description: "In `text` and `regex`." }),
  limit: pageLimit,
  offset: wholeNumber(0, SEARCH_OFFSET_MAX).default(0),
  wait: wholeNumber(0, SEARCH_WAIT_SECONDS_MAX).default(0).meta({
    description:
      `Seconds to wait until everything below the directory is indexed. At most ${SEARCH_WAITERS_MAX} searches of a ` +
      "project wait in one instance of the service; others are answered at once.",
  }),
}).refine(({ q, mode }) => mode === "semantic" || mode === "hybrid" || !q.includes("\n"), {
  path: ["q"],
  message: "must be one line",
});

const match = z.object({
  line: z.int().min(1),
  column: z.int().min(1).meta({ description: "In UTF-16 code units." }),
  snippet: z.string().meta({ description: "The line; of a long one the part around the match." }),
  before: z.array(z.string()),
  after: z.array(z.string()),
  lines: z.string().meta({ description: "The lines of `text`, as `lines=` of a read takes them." }),
  text: z.string().meta({
    description:
      "These lines as they are in the file, for `oldString` of an edit; where they are long, the snippet alone.",
  }),
});

const notSearched = z.object({
  files: z.int().min(1),
  bytes: z.int().min(0),
  paths: z.array(z.string()).max(SEARCH_UNSEARCHED_PATHS_MAX),
  reasons: z.array(z.enum(UNSEARCHED_REASONS)).min(1).meta({
    description:
      "`too_large`: no search of this mode looks at so large a file. `bounds`: one search reads no more; narrow it by " +
      "directory or glob. `pending`: not indexed yet. `not_indexable`: it could not be indexed, several times. " +
      "`too_many_words`: only those of its beginning are indexed. `busy`: others were reading. `unreadable`: its " +
      "content could not be read.",
  }),
}).meta({
  description:
    "Files with text below the directory that was not looked at, all of it or, with `too_many_words`, a part. Without " +
    "this field nothing was left out: what is not found is not there.",
});

const answer = z.object({
  results: z.array(fileRecord.extend({
    score: z.number().meta({ description: "In `text` and `regex`, how many lines match." }),
    matches: z.array(match),
    skipped: z.enum(["too_large", "not_text", "not_indexable"]).optional().meta({
      description:
        "Why the content is not searched; the file was found by its name. `not_indexable`: it could not be indexed, several times.",
    }),
  })),
  mode: z.enum(["text", "regex", "semantic", "hybrid", "lexical"]).meta({
    description: "The one used: `lexical` is `hybrid` without a model.",
  }),
  hasMore: z.boolean().meta({
    description: "Continue at `offset` plus the number of results, which may be below `limit`.",
  }),
  limit: z.int().default(PAGE_LIMIT_DEFAULT),
  offset: z.int(),
  indexed: z.object({
    pending: z.int().min(0).meta({ description: "Files whose latest version is not indexed yet." }),
  }),
  notSearched: notSearched.optional(),
}).meta({ id: "SearchResults" });

function parse(data: RequestData) {
  const { directory, wait, ...parameters } = validate(query, pick(data.query, Object.keys(query.shape)));
  return { plan: planSearch({ ...parameters, directory: normalizeDirectory(directory) }), wait };
}

async function handle(context: Context, { plan, wait }: ReturnType<typeof parse>): Promise<Response> {
  const { results, mode, hasMore, pending, notSearched } = await runSearch(context, plan, wait);
  const { limit, offset } = plan;
  return success(
    "search_files",
    { results, mode, hasMore, limit, offset, indexed: { pending }, ...notSearched && { notSearched } },
    notSearched
      ? `${results.length} files; ${notSearched.files} were not searched.`
      : `${results.length} files.`,
  );
}

export const search = defineRoute({
  method: "GET",
  pattern: "/search",
  operation: "search_files",
  credentials: "key",
  allows: { read: "search files" },
  parse,
  handle,
  openapi: {
    id: "searchFiles",
    summary: "Search the current text of files",
    query,
    answer,
    errors: ["INVALID_PATH", "VALIDATION_ERROR", "SEARCH_TOO_BROAD", "SEMANTIC_SEARCH_UNAVAILABLE"],
    example: {
      data: [{
        results: [{
          ...EXAMPLE_RECORD,
          score: 1,
          matches: [{
            ...{ line: 2, column: 3, snippet: "- ship it", before: ["# Plan"], after: [] },
            ...{ lines: "1-2", text: "# Plan\n- ship it" },
          }],
        }],
        mode: "text",
        hasMore: false,
        limit: 10,
        offset: 0,
        indexed: { pending: 0 },
      }],
    },
  },
});
