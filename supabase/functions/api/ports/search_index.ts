/** Search: the queries the database runs over indexed text, and how its index follows the files. */
import { z } from "zod";
import { fileRecord } from "../contract/files.ts";
import { type Skipped, skipped, unsearched } from "../contract/search.ts";
import type { Wire } from "../contract/values.ts";
import { content } from "./files.ts";
import { segment } from "./segments.ts";

/** What limits a search, whatever it looks for. */
export interface SearchFilter {
  /** Without leading or trailing slash; "" is the root. */
  readonly directory: string;
  /** A regular expression for the whole path, from `search/glob.ts`. */
  readonly glob?: string | undefined;
  readonly contentType?: string | undefined;
  /** Returns at most this many files, after skipping `skip`, with about this many bytes of text. */
  readonly files: number;
  readonly skip: number;
  readonly bytes: number;
}

/**
 * - `scan`: files by path that contain, of each clause, one literal; a superset where case is ignored.
 * - `rank`: the best files by `words` or `names` (web search syntax), by distance to `vector`, or by both, fused.
 */
export type SearchQuery =
  & SearchFilter
  & (
    | {
      readonly kind: "scan";
      readonly clauses: readonly (readonly string[])[];
      readonly caseSensitive: boolean;
      /** Only paths that come after this one. */
      readonly after?: string | undefined;
      /** Of the files whose text is not in the index, those to be read instead: so large, and so much in all. */
      readonly live?: LiveBounds | undefined;
      /** Ids of files that were read like that already. */
      readonly known?: readonly string[] | undefined;
    }
    | {
      readonly kind: "rank";
      readonly words?: string | undefined;
      /** The same, looked up in paths alone. */
      readonly names?: string | undefined;
      readonly vector?: readonly number[] | undefined;
      /** The model that made the vector. */
      readonly model?: string | undefined;
      /** The same by the model before, for texts that are not embedded anew yet. */
      readonly former?: { readonly model: string; readonly vector: readonly number[] } | undefined;
    }
  );

export interface LiveBounds {
  /** Of each file. */
  readonly fileBytes: number;
  /** Of all of them, the smallest ones first. */
  readonly bytes: number;
  /** Segments of all of them; an empty file counts as one. */
  readonly reads: number;
}

/** Text below the directory that the index does not have: what may be read instead, and what is left. */
export const unsearchedPage = unsearched.extend({
  files: z.number(),
  reasons: z.array(unsearched.shape.reasons.element),
  live: z.array(content),
  /** False: so many files are not indexed that there may be more than are counted. */
  isComplete: z.boolean(),
});
export type UnsearchedPage = Wire<typeof unsearchedPage>;

export const foundFile = z.object({
  file: fileRecord,
  skipped: skipped.nullable(),
  /** The text of that version, U+FFFE for NUL; of a skipped file its path. */
  content: z.string(),
  score: z.number(),
  /** The chunk nearest to the vector. */
  chunk: z.object({ firstLine: z.number(), text: z.string() }).nullish(),
});
export type FoundFile = Wire<typeof foundFile>;

export const searchPage = z.object({
  files: z.array(foundFile),
  /** Of a scan: the path to continue after; null where nothing is left. */
  next: z.string().nullish().transform((path) => path ?? null),
  /** Of a scan: no index has the pattern, and as many texts were read for it as one call may. */
  walked: z.boolean().nullish().transform((walked) => walked ?? false),
  /** Of a ranking. */
  hasMore: z.boolean().nullish().transform((hasMore) => hasMore ?? false),
  /** Whether the database compares vectors. */
  hasVectors: z.boolean(),
  /** Stems of the query's words. */
  lexemes: z.array(z.string()),
  /** Files whose current version is not indexed yet. */
  pending: z.number(),
  /** The directory that was searched, within the prefix of the key, and up to which stage it is to be indexed. */
  scope: z.string().nullable(),
  stage: z.number(),
  /** Vectors of this size have no index, and there are more than are compared. */
  isVectorCut: z.boolean(),
  /** Null where nothing was searched, since the key sees nothing of the directory. */
  unsearched: unsearchedPage.nullable(),
});
export type SearchPage = Wire<typeof searchPage>;

/** A directory, and up to which stage it is to be indexed. */
export interface IndexedScope {
  readonly scope: string;
  readonly stage: number;
}

/** A claimed file. Nobody else gets it until the claim has expired. */
export const claimedFile = z.object({
  projectId: z.string(),
  fileId: z.string(),
  version: z.number(),
  path: z.string(),
  mimeType: z.string(),
  size: z.number(),
  isDeleted: z.boolean(),
  /** Claims of this version so far, this one included. */
  tries: z.number(),
  /** The version's segments, where its text is to be stored and small enough. */
  segments: z.array(segment),
  /** To be embedded. */
  chunks: z.array(z.object({ hash: z.string(), text: z.string() })),
});
export type ClaimedFile = Wire<typeof claimedFile>;

export const claim = z.object({
  claimId: z.string(),
  files: z.array(claimedFile),
  /** When the next unclaimed file is due, at the earliest; null where there is none. */
  nextDueMilliseconds: z.number().nullable(),
});
export type Claim = Wire<typeof claim>;

/** A claimed file that could not be indexed. */
export interface FailedFile extends Pick<ClaimedFile, "projectId" | "fileId"> {
  /** Its own fault, or something was out of reach: then it is not given up, however often. */
  readonly isFault: boolean;
}

/** A chunk's vector; null where the model refuses its text. */
export interface ChunkEmbedding {
  readonly hash: string;
  readonly embedding: readonly number[] | null;
}

/** What the index is to hold of a claimed file. */
export interface IndexedText
  extends Pick<ClaimedFile, "projectId" | "fileId" | "version" | "path" | "mimeType" | "isDeleted"> {
  /** U+FFFE for NUL; null where the text is not indexed. */
  readonly content: string | null;
  readonly skipped: Skipped | null;
  /** First line from 1, start and length in characters; none without an embedding model. */
  readonly chunks: readonly (readonly [number, number, number])[];
}

/**
 * Maintains the search index, for every project. Each method is one back-end call and one transaction; all may be
 * repeated. All throw `ApiError("SERVICE_UNAVAILABLE")` when the back end stays out of reach.
 */
export interface SearchIndex {
  /** Claims files whose text is to be stored; with `begun`, an ISO time, of those that were due by then. */
  claimTexts(begun?: string): Promise<Claim>;
  /** Likewise files with chunks that the model has not embedded. */
  claimChunks(model: string, begun?: string): Promise<Claim>;
  /** Stores texts of a claim. Files that the claim no longer holds are left alone. */
  storeTexts(claimId: string, texts: readonly IndexedText[], model: string | null): Promise<void>;
  /** Stores embeddings by chunk hash and releases the file. */
  storeEmbeddings(
    claimId: string,
    file: Pick<ClaimedFile, "projectId" | "fileId">,
    model: string,
    embeddings: readonly ChunkEmbedding[],
  ): Promise<void>;
  /** Notes which files of a claim could not be indexed. They are tried again, each by itself. */
  noteFailures(claimId: string, files: readonly FailedFile[]): Promise<void>;
  /** Queues files that the model has not embedded, and files that were given up long ago; returns how many. */
  requeue(model: string | null): Promise<number>;
}

/** Turns texts into vectors of one size, up to EMBEDDING_DIMENSIONS_MAX numbers, and of length 1; similar meanings give nearby vectors. */
export interface Embedder {
  /** Vectors of different models cannot be compared. */
  readonly model: string;
  /** The model before this one, where it can still be asked: for queries alone. */
  readonly former?: Embedder | undefined;
  /** In the order of the texts. Throws `ApiError("SERVICE_UNAVAILABLE")` where the model is out of reach. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}
