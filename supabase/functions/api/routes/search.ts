/** GET /search: files by substring, pattern, words and meaning. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { Automaton } from "../search/lazy_dfa.ts";
import { GlobError, globPattern } from "../search/glob.ts";
import { patternFinder, substringFinder } from "../search/matching_lines.ts";
import { normalizeDirectory } from "../http/path.ts";
import { pick } from "../http/query.ts";
import type { RequestData } from "../http/request_data.ts";
import { parsePattern, PatternError } from "../search/posix_ere.ts";
import { requiredLiterals, withoutCase } from "../search/required_literals.ts";
import { fail } from "../errors.ts";
import {
  PAGE_LIMIT_DEFAULT,
  SEARCH_GLOB_LENGTH_MAX,
  SEARCH_MILLISECONDS_MAX,
  SEARCH_OFFSET_MAX,
  SEARCH_QUERY_LENGTH_MAX,
} from "../limits.ts";
import { rank } from "../search/rank.ts";
import { scan, type ScanQuery } from "../search/scan.ts";
import { success } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { defineRoute } from "./route.ts";
import { fileRecord, mediaType, pageLimit, wholeNumber } from "./schemas.ts";

const query = z.object({
  q: z.string().min(1, "must not be empty").max(SEARCH_QUERY_LENGTH_MAX).refine(
    (text) => !text.includes("\0"),
    "must not contain NUL",
  ),
  mode: z.enum(["text", "regex", "semantic", "hybrid"]).default("hybrid").meta({
    description:
      '`text`: a substring, as `grep -F`. `regex`: an extended regular expression, as `grep -E`, without back-references, `\\b` and look-around. `semantic`: by meaning. `hybrid`: by words (`"a phrase"`, `or`, `-not`) and meaning.',
  }),
  directory: z.string().default("/").meta({ description: "Everything below it." }),
  glob: z.string().min(1).max(SEARCH_GLOB_LENGTH_MAX).optional().meta({
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
    skipped: z.enum(["too_large", "not_text"]).optional().meta({
      description: "Why the content is not searched; the file was found by its name.",
    }),
  })),
  mode: z.enum(["text", "regex", "semantic", "hybrid", "lexical"]).meta({
    description: "The one used: `lexical` is `hybrid` without a model.",
  }),
  hasMore: z.boolean().meta({
    description: "Go on at `offset` plus the number of results, which may be below `limit`.",
  }),
  limit: z.int().default(PAGE_LIMIT_DEFAULT),
  offset: z.int(),
  indexed: z.object({
    pending: z.int().min(0).meta({ description: "Files whose latest version is not searched yet." }),
  }),
}).meta({ id: "SearchResults" });

type Parameters = z.output<typeof query> & {
  readonly directory: string;
  readonly globRegex: string | undefined;
};

function parse(data: RequestData) {
  const { directory: given, ...parameters } = validate(query, pick(data.query, Object.keys(query.shape)));
  const directory = normalizeDirectory(given);
  const { glob } = parameters;
  const globRegex = glob === undefined ? undefined : orRefuse("glob", () => globPattern(glob, directory));
  const asked: Parameters = { ...parameters, directory, globRegex };
  return { asked, scanned: asked.mode === "text" || asked.mode === "regex" ? scanQuery(asked) : undefined };
}

function scanQuery(
  { q, mode, caseSensitive, directory, globRegex, contentType, limit, offset }: Parameters,
): ScanQuery {
  const deadline = performance.now() + SEARCH_MILLISECONDS_MAX;
  const isOver = () => performance.now() > deadline;
  const pattern = mode === "regex" ? orRefuse("q", () => parsePattern(q)) : undefined;
  const clauses = pattern ? requiredLiterals(pattern) : [[q]];
  return {
    find: pattern
      ? patternFinder(orRefuse("q", () => new Automaton(pattern, !caseSensitive, isOver)))
      : substringFinder(q, caseSensitive),
    clauses: caseSensitive ? clauses : withoutCase(clauses),
    isExact: !pattern && caseSensitive,
    ...{ caseSensitive, directory, glob: globRegex, contentType, limit, offset, isOver },
  };
}

function orRefuse<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PatternError || error instanceof GlobError)) throw error;
    fail("VALIDATION_ERROR", `${path}: ${error.message}.`, { issues: [{ path, reason: error.message }] });
  }
}

async function handle(context: Context, { asked, scanned }: ReturnType<typeof parse>): Promise<Response> {
  const { mode, q, directory, globRegex, contentType, limit, offset } = asked;
  const ranked = mode === "semantic" || mode === "hybrid"
    ? { q, mode, directory, glob: globRegex, contentType, limit, offset } as const
    : undefined;
  const { results, hasMore, pending, ...found } = ranked
    ? await rank(context, ranked)
    : { ...await scan(context, scanned ?? scanQuery(asked)), mode };
  if (pending > 0) context.onPending();
  return success(
    "search_files",
    { results, mode: found.mode, hasMore, limit, offset, indexed: { pending } },
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
  },
});
