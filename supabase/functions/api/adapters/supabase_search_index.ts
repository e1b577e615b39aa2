/** The search index over supabase-js. These calls carry no API key: they are the service's own background work. */
import type { SupabaseClient } from "@supabase/supabase-js";
import { z } from "zod";
import {
  SEARCH_CLAIM_BYTES,
  SEARCH_CLAIM_CHUNKS,
  SEARCH_CLAIM_EMBEDDED_FILES,
  SEARCH_CLAIM_FILES,
  SEARCH_GIVEN_UP_SECONDS,
  SEARCH_LEASE_SECONDS,
  SEARCH_REQUEUED_FILES,
} from "../limits.ts";
import { claim, type SearchIndex } from "../ports/search_index.ts";
import type { CallParts } from "./backend.ts";
import { callFunction, type Parameters } from "./rpc.ts";

/** The work for which files are leased: storing texts, or embedding chunks. */
const STAGES = { texts: 1, chunks: 2 } as const;

export function supabaseSearchIndex(client: () => SupabaseClient, parts: CallParts): SearchIndex {
  /** Every call may be repeated: a lease whose answer was lost expires, and storing again has the same result. */
  const call = (name: string, parameters: Parameters) =>
    callFunction(client(), parts, name, parameters, { mayBeNull: true });
  const lease = async (stage: number, files: number, model: string | null, begun?: string) =>
    claim.parse(
      await call("filestore_search_claim", {
        ...{ stage, files, model, begun },
        bytes: SEARCH_CLAIM_BYTES,
        chunks: SEARCH_CLAIM_CHUNKS,
        leaseSeconds: SEARCH_LEASE_SECONDS,
      }),
    );
  return {
    claimTexts: (begun) => lease(STAGES.texts, SEARCH_CLAIM_FILES, null, begun),
    claimChunks: (model, begun) => lease(STAGES.chunks, SEARCH_CLAIM_EMBEDDED_FILES, model, begun),
    storeTexts: async (claimId, texts, model) =>
      void await call("filestore_search_store", { claimId, texts, model }),
    storeEmbeddings: async (claimId, { projectId, fileId }, model, embeddings) =>
      void await call("filestore_search_store_embeddings", { claimId, projectId, fileId, model, embeddings }),
    noteFailures: async (claimId, failed) => {
      const files = failed.map(({ projectId, fileId, isFault }) => ({
        project_id: projectId,
        file_id: fileId,
        is_fault: isFault,
      }));
      await call("filestore_search_fail", { claimId, files });
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
