/** The search index over supabase-js. These calls carry no API key: they are the service's own background work. */
import type { SupabaseClient } from "@supabase/supabase-js";
import {
  SEARCH_CLAIM_BYTES,
  SEARCH_CLAIM_CHUNKS,
  SEARCH_CLAIM_EMBEDDED_FILES,
  SEARCH_CLAIM_FILES,
  SEARCH_GIVEN_UP_SECONDS,
  SEARCH_LEASE_SECONDS,
  SEARCH_REQUEUED_FILES,
} from "../limits.ts";
import type {
  ChunkEmbedding,
  Claim,
  ClaimedFile,
  FailedFile,
  IndexedText,
  SearchIndex,
} from "../ports/search_index.ts";
import { z } from "zod";
import { claim } from "./answers.ts";
import type { CallParts } from "./backend.ts";
import { callFunction } from "./rpc.ts";

/** The work for which files are leased: storing texts, or embedding chunks. */
const STAGES = { texts: 1, chunks: 2 } as const;

export class SupabaseSearchIndex implements SearchIndex {
  constructor(private readonly client: () => SupabaseClient, private readonly parts: CallParts) {}

  claimTexts(begun?: string): Promise<Claim> {
    return this.claim(STAGES.texts, SEARCH_CLAIM_FILES, null, begun);
  }

  claimChunks(model: string, begun?: string): Promise<Claim> {
    return this.claim(STAGES.chunks, SEARCH_CLAIM_EMBEDDED_FILES, model, begun);
  }

  async storeTexts(claimId: string, texts: readonly IndexedText[], model: string | null): Promise<void> {
    await this.call("filestore_search_store", { p_claim_id: claimId, p_texts: texts, p_model: model });
  }

  async storeEmbeddings(
    claimId: string,
    { projectId, fileId }: Pick<ClaimedFile, "projectId" | "fileId">,
    model: string,
    embeddings: readonly ChunkEmbedding[],
  ): Promise<void> {
    await this.call("filestore_search_store_embeddings", {
      p_claim_id: claimId,
      p_project_id: projectId,
      p_file_id: fileId,
      p_model: model,
      p_embeddings: embeddings,
    });
  }

  async noteFailures(claimId: string, files: readonly FailedFile[]): Promise<void> {
    await this.call("filestore_search_fail", {
      p_claim_id: claimId,
      p_files: files.map(({ projectId, fileId, isFault }) => ({
        project_id: projectId,
        file_id: fileId,
        is_fault: isFault,
      })),
    });
  }

  async requeue(model: string | null): Promise<number> {
    const parameters = {
      p_model: model,
      p_files: SEARCH_REQUEUED_FILES,
      p_given_up_seconds: SEARCH_GIVEN_UP_SECONDS,
    };
    return z.number().parse(await this.call("filestore_search_requeue", parameters));
  }

  private async claim(
    stage: number,
    files: number,
    model: string | null,
    begun?: string,
  ): Promise<Claim> {
    return claim.parse(
      await this.call("filestore_search_claim", {
        p_stage: stage,
        p_files: files,
        p_bytes: SEARCH_CLAIM_BYTES,
        p_chunks: SEARCH_CLAIM_CHUNKS,
        p_lease_seconds: SEARCH_LEASE_SECONDS,
        p_model: model,
        p_begun: begun ?? null,
      }),
    );
  }

  /** Every call may be repeated: a lease whose answer was lost expires, and storing again has the same result. */
  private call(name: string, parameters: Record<string, unknown>): Promise<unknown> {
    return callFunction(this.client(), this.parts, name, parameters, { mayBeNull: true });
  }
}
