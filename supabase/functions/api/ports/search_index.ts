/** Search: the queries the database runs over indexed text, and how its index follows the files. */
import type { FileRecord } from "./files.ts";
import type { Segment } from "./segments.ts";

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

/** A file whose text is not in the index, with its content. */
export interface LiveFile {
  readonly file: FileRecord;
  readonly segments: readonly Segment[];
}

/**
 * Why the text of a file was not looked at.
 * - `too_large`: no search of this mode looks at so large a file. `bounds`: this search had read as much as one may.
 * - `pending`: its latest version is not indexed yet. `not_indexable`: it could not be read or indexed, several times.
 * - `too_many_words`: only those of its beginning are indexed.
 * - `busy`: other searches were reading. `unreadable`: its content could not be read just now.
 */
export const UNSEARCHED_REASONS = [
  "too_large",
  "bounds",
  "pending",
  "not_indexable",
  "too_many_words",
  "busy",
  "unreadable",
] as const;
export type UnsearchedReason = typeof UNSEARCHED_REASONS[number];

/** Files with text that a search did not look at. */
export interface Unsearched {
  readonly files: number;
  readonly bytes: number;
  /** Of some of them, in order. */
  readonly paths: readonly string[];
  readonly reasons: readonly UnsearchedReason[];
}

/** Text below the directory that the index does not have: what may be read instead, and what is left. */
export interface UnsearchedPage extends Unsearched {
  readonly live: readonly LiveFile[];
  /** False: so many files are not indexed that there may be more than are counted. */
  readonly isComplete: boolean;
}

/** Why a file's text is not in the index: the file is found by its name only. */
export type Skipped = "too_large" | "not_text" | "not_indexable";

export interface FoundFile {
  readonly file: FileRecord;
  readonly skipped: Skipped | null;
  /** The text of that version, U+FFFE for NUL; of a skipped file its path. */
  readonly content: string;
  readonly score: number;
  /** The chunk nearest to the vector. */
  readonly chunk?: { readonly firstLine: number; readonly text: string } | null | undefined;
}

export interface SearchPage {
  readonly files: readonly FoundFile[];
  /** Of a scan: the path to continue after; null where nothing is left. */
  readonly next: string | null;
  /** Of a scan: no index has the pattern, and as many texts were read for it as one call may. */
  readonly walked: boolean;
  /** Of a ranking. */
  readonly hasMore: boolean;
  /** Whether the database compares vectors. */
  readonly hasVectors: boolean;
  /** Stems of the query's words. */
  readonly lexemes: readonly string[];
  /** Files whose current version is not indexed yet. */
  readonly pending: number;
  /** The directory that was searched, within the prefix of the key, and up to which stage it is to be indexed. */
  readonly scope: string | null;
  readonly stage: number;
  /** Vectors of this size have no index, and there are more than are compared. */
  readonly isVectorCut: boolean;
  /** Null where nothing was searched, since the key sees nothing of the directory. */
  readonly unsearched: UnsearchedPage | null;
}

/** A directory, and up to which stage it is to be indexed. */
export interface IndexedScope {
  readonly scope: string;
  readonly stage: number;
}

/** A claimed file. Nobody else gets it until the claim has expired. */
export interface ClaimedFile {
  readonly projectId: string;
  readonly fileId: string;
  readonly version: number;
  readonly path: string;
  readonly mimeType: string;
  readonly size: number;
  readonly isDeleted: boolean;
  /** Claims of this version so far, this one included. */
  readonly tries: number;
  /** The version's segments, where its text is to be stored and small enough. */
  readonly segments: readonly Segment[];
  /** To be embedded. */
  readonly chunks: readonly { readonly hash: string; readonly text: string }[];
}

export interface Claim {
  readonly claimId: string;
  readonly files: readonly ClaimedFile[];
  /** When the next unclaimed file is due, at the earliest; null where there is none. */
  readonly nextDueMilliseconds: number | null;
}

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
