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
} from "../limits.ts";
import { planSearch } from "../search/plan.ts";
import { rank } from "../search/rank.ts";
import { scan } from "../search/scan.ts";
import { defineRoute } from "./route.ts";
import { EXAMPLE_RECORD, fileRecord, mediaType, pageLimit, wholeNumber } from "./schemas.ts";

/** Postgres stores no NUL in a text. */
const withoutNul = [(text: string) => !text.includes("\0"), "must not contain NUL"] as const;

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
}).meta({ id: "SearchResults" });

function parse(data: RequestData) {
  const { directory, ...parameters } = validate(query, pick(data.query, Object.keys(query.shape)));
  return planSearch({ ...parameters, directory: normalizeDirectory(directory) });
}

async function handle(context: Context, plan: ReturnType<typeof parse>): Promise<Response> {
  const found = plan.kind === "scan" ? await scan(context, plan) : await rank(context, plan);
  const { results, mode, hasMore, pending } = found;
  const { limit, offset } = plan;
  if (pending > 0) context.onPending();
  return success(
    "search_files",
    { results, mode, hasMore, limit, offset, indexed: { pending } },
    `${results.length} files.`,
  );
}

export const search = defineRoute({
  method: "GET",
  pattern: "/search",
  operation: "search_files",
  credentials: "key",
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
          matches: [{ line: 2, column: 3, snippet: "- ship it", before: ["# Plan"], after: [] }],
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
