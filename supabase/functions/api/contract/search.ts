/** The answer to a search. */
import { z } from "zod";
import { fileRecord } from "./files.ts";
import { PAGE_LIMIT_DEFAULT, SEARCH_UNSEARCHED_PATHS_MAX } from "./limits.ts";
import { count, version, type Wire } from "./values.ts";

const match = z.object({
  line: version,
  column: version.meta({ description: "In UTF-16 code units." }),
  snippet: z.string().meta({
    description: "The matching line; if it is long, only the part around the match.",
  }),
  before: z.array(z.string()),
  after: z.array(z.string()),
  lines: z.string().meta({
    description: "The range of the lines in `text`, in the format of the parameter `lines` of a read.",
  }),
  text: z.string().meta({
    description:
      "The lines of that range, unchanged, so that an edit can use them as `oldString`; if they are long, only the snippet.",
  }),
});
export type Match = Wire<typeof match>;

const unsearchedReason = z.enum([
  "too_large",
  "bounds",
  "pending",
  "not_indexable",
  "too_many_words",
  "busy",
  "unreadable",
]);
export type UnsearchedReason = z.infer<typeof unsearchedReason>;

export const unsearched = z.object({
  files: version,
  bytes: count,
  paths: z.array(z.string()).max(SEARCH_UNSEARCHED_PATHS_MAX),
  reasons: z.array(unsearchedReason).min(1).meta({
    description:
      "`too_large`: this mode reads no file of that size. `bounds`: the search reached its bounds; narrow it by " +
      "directory or glob. `pending`: not indexed yet. `not_indexable`: indexing failed several times. " +
      "`too_many_words`: only the words at its beginning are indexed. `busy`: other searches were reading. " +
      "`unreadable`: its content could not be read.",
  }),
}).meta({
  description:
    "Files below the directory whose text was not searched, or with `too_many_words` only in part. Without this " +
    "field all texts were searched: if nothing was found, there is no match.",
});
export type Unsearched = Wire<typeof unsearched>;

/** Why the text of a file is not in the index: the file is found by its name only. */
export const skipped = z.enum(["too_large", "not_text", "not_indexable"]);
export type Skipped = z.infer<typeof skipped>;

export const requestedMode = z.enum(["text", "regex", "semantic", "hybrid"]);

const searchResult = fileRecord.extend({
  score: z.number().meta({ description: "In `text` and `regex`, the number of lines that match." }),
  matches: z.array(match),
  skipped: skipped.optional().meta({
    description:
      "Why the content is not searched; the file was found by its name. `not_indexable`: indexing failed several times.",
  }),
});
export type SearchResult = Wire<typeof searchResult>;

export const searchResults = z.object({
  results: z.array(searchResult),
  mode: z.enum([...requestedMode.options, "lexical"]).meta({
    description:
      "The mode that was used: `lexical` if `hybrid` was requested and search by meaning is not available.",
  }),
  hasMore: z.boolean().meta({
    description: "Continue at `offset` plus the number of results, which may be below `limit`.",
  }),
  limit: z.int().default(PAGE_LIMIT_DEFAULT),
  offset: z.int(),
  indexed: z.object({
    pending: count.meta({ description: "Files whose latest version is not indexed yet." }),
  }),
  notSearched: unsearched.optional(),
}).meta({ id: "SearchResults" });
export type SearchResults = Wire<typeof searchResults>;
