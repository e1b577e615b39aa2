/** The search index over supabase-js. These calls carry no API key: they are the service's own background work. */
import type { SupabaseClient } from "@supabase/supabase-js";
import { z } from "zod";
import {
  SEARCH_GIVEN_UP_SECONDS,
  SEARCH_LEASE_BYTES,
  SEARCH_LEASE_CHUNKS,
  SEARCH_LEASE_EMBEDDED_FILES,
  SEARCH_LEASE_FILES,
  SEARCH_LEASE_SECONDS,
  SEARCH_REQUEUED_FILES,
} from "../limits.ts";
import { lease, type SearchIndex } from "../ports/search_index.ts";
import type { CallParts } from "./backend.ts";
import { callFunction, type Parameters } from "./rpc.ts";

/** The work for which files are leased: storing texts, or embedding chunks. */
const STAGES = { texts: 1, chunks: 2 } as const;

export function supabaseSearchIndex(client: () => SupabaseClient, parts: CallParts): SearchIndex {
  /** Every call may be repeated: a lease whose answer was lost expires, and storing again has the same result. */
  const call = (name: string, parameters: Parameters) =>
    callFunction(client(), parts, name, parameters, { mayBeNull: true });
  const take = async (stage: number, files: number, model: string | null, begun?: string) =>
    lease.parse(
      await call("filestore_search_lease", {
        ...{ stage, files, model, begun },
        bytes: SEARCH_LEASE_BYTES,
        chunks: SEARCH_LEASE_CHUNKS,
        leaseSeconds: SEARCH_LEASE_SECONDS,
      }),
    );
  return {
    leaseTexts: (begun) => take(STAGES.texts, SEARCH_LEASE_FILES, null, begun),
    leaseChunks: (model, begun) => take(STAGES.chunks, SEARCH_LEASE_EMBEDDED_FILES, model, begun),
    storeTexts: async (leaseId, texts, model) =>
      void await call("filestore_search_store", { leaseId, texts, model }),
    storeEmbeddings: async (leaseId, { projectId, fileId }, model, embeddings) =>
      void await call("filestore_search_store_embeddings", { leaseId, projectId, fileId, model, embeddings }),
    noteFailures: async (leaseId, failed) => {
      const files = failed.map(({ projectId, fileId, isFault }) => ({
        project_id: projectId,
        file_id: fileId,
        is_fault: isFault,
      }));
      await call("filestore_search_fail", { leaseId, files });
    },
    requeue: async (model) =>
      z.number().parse(
        await call("filestore_search_requeue", {
          model,
          files: SEARCH_REQUEUED_FILES,
          givenUpSeconds: SEARCH_GIVEN_UP_SECONDS,
        }),
      ),
  };
}
