/** Search: the queries that the database runs over indexed text, and the maintenance of the index. */
import type { Skipped } from "../contract/search.ts";
import {
  SEARCH_GIVEN_UP_SECONDS,
  SEARCH_LEASE_BYTES,
  SEARCH_LEASE_CHUNKS,
  SEARCH_LEASE_EMBEDDED_FILES,
  SEARCH_LEASE_FILES,
  SEARCH_LEASE_SECONDS,
  SEARCH_REQUEUED_FILES,
} from "../limits.ts";
import type { CallInternal } from "./calls.ts";
import type { Lease, LeasedFile } from "./schemas.ts";

/** The scope and the bounds of a search in every mode. */
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
      /**
       * The bounds for live reads of files whose text is not in the index: bytes of each file, bytes and segments of all
       * of them. The smallest files come first; an empty file counts as one segment.
       */
      readonly live?: Readonly<Record<"fileBytes" | "bytes" | "reads", number>> | undefined;
      /** Ids of files that were already read live. */
      readonly known?: readonly string[] | undefined;
    }
    | {
      readonly kind: "rank";
      readonly words?: string | undefined;
      /** The same, but matched with paths only. */
      readonly names?: string | undefined;
      readonly vector?: readonly number[] | undefined;
      /** The model that computed the vector. */
      readonly model?: string | undefined;
      /** The same by the former model, for texts that the present model has not embedded yet. */
      readonly former?: { readonly model: string; readonly vector: readonly number[] } | undefined;
    }
  );

/** A directory, and the stage up to which it must be indexed. */
export interface IndexedScope {
  readonly scope: string;
  readonly stage: number;
}

/** A leased file that could not be indexed. */
export interface FailedFile extends Pick<LeasedFile, "projectId" | "fileId"> {
  /** Whether the file is at fault, or a service was out of reach: then indexing is never given up. */
  readonly isFault: boolean;
}

/** A chunk's vector; null where the model refuses its text. */
export interface ChunkEmbedding {
  readonly hash: string;
  readonly embedding: readonly number[] | null;
}

/** The text and chunks to index for a leased file. */
export interface IndexedText
  extends Pick<LeasedFile, "projectId" | "fileId" | "version" | "path" | "mimeType" | "isDeleted"> {
  /** The text with U+FFFE for NUL; null if the text is not indexed. */
  readonly content: string | null;
  readonly skipped: Skipped | null;
  /** First line from 1, start and length in characters; no chunks without an embedding model. */
  readonly chunks: readonly (readonly [number, number, number])[];
}

/** The work for which files are leased: storing texts, or embedding chunks. */
const STAGES = { texts: 1, chunks: 2 } as const;

export type SearchIndex = ReturnType<typeof searchIndexOver>;

/**
 * Maintains the search index, for every project. Each method is one back-end call and one transaction; all may be
 * repeated: a lease whose answer was lost expires, and storing again has the same result. All throw
 * `ApiError("SERVICE_UNAVAILABLE")` when the back end stays out of reach.
 */
export function searchIndexOver(call: CallInternal) {
  const take = (stage: number, files: number, model: string | null, begun?: string): Promise<Lease> =>
    call("filestore_search_lease", {
      ...{ stage, files, model, begun },
      bytes: SEARCH_LEASE_BYTES,
      chunks: SEARCH_LEASE_CHUNKS,
      leaseSeconds: SEARCH_LEASE_SECONDS,
    }, "lease");
  return {
    /** Leases files whose text must be stored; with `begun`, an ISO time, only files that were due by then. */
    leaseTexts: (begun?: string) => take(STAGES.texts, SEARCH_LEASE_FILES, null, begun),
    /** Likewise leases files with chunks that the model has not embedded. */
    leaseChunks: (model: string, begun?: string) =>
      take(STAGES.chunks, SEARCH_LEASE_EMBEDDED_FILES, model, begun),
    /** Stores the texts of leased files. Files whose lease is no longer valid are skipped. */
    storeTexts: (leaseId: string, texts: readonly IndexedText[], model: string | null) =>
      call("filestore_search_store", { leaseId, texts, model }, "nothing"),
    /** Stores embeddings by chunk hash and ends the lease of the file. */
    storeEmbeddings: (
      leaseId: string,
      { projectId, fileId }: Pick<LeasedFile, "projectId" | "fileId">,
      model: string,
      embeddings: readonly ChunkEmbedding[],
    ) => {
      const parameters = { leaseId, projectId, fileId, model, embeddings };
      return call("filestore_search_store_embeddings", parameters, "nothing");
    },
    /** Records which leased files could not be indexed. They are tried again, each alone. */
    noteFailures: (leaseId: string, failed: readonly FailedFile[]) => {
      const files = failed.map(({ projectId, fileId, isFault }) => ({
        project_id: projectId,
        file_id: fileId,
        is_fault: isFault,
      }));
      return call("filestore_search_fail", { leaseId, files }, "nothing");
    },
    /** Queues files that the model has not embedded, and files that were given up long ago; returns how many. */
    requeue: (model: string | null) =>
      call("filestore_search_requeue", {
        model,
        files: SEARCH_REQUEUED_FILES,
        givenUpSeconds: SEARCH_GIVEN_UP_SECONDS,
      }, "number"),
  };
}

/** Turns texts into vectors of one size, up to EMBEDDING_DIMENSIONS_MAX, and of length 1, near for similar meanings. */
export interface Embedder {
  /** Vectors of different models cannot be compared. */
  readonly model: string;
  /** The former model, if it is still available: only for queries. */
  readonly former?: Embedder | undefined;
  /** In the order of the texts. Throws `ApiError("SERVICE_UNAVAILABLE")` where the model is out of reach. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}
