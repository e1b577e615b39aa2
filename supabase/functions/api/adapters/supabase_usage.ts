/** Usage over supabase-js. Like those of the search index, these calls are made after responses. */
import type { SupabaseClient } from "@supabase/supabase-js";
import type { RequestCount, Usage } from "../ports/usage.ts";
import type { CallParts } from "./backend.ts";
import { callFunction } from "./rpc.ts";

export class SupabaseUsage implements Usage {
  constructor(private readonly client: () => SupabaseClient, private readonly parts: CallParts) {}

  async count(counts: readonly RequestCount[]): Promise<void> {
    await callFunction(this.client(), this.parts, "filestore_count_usage", { p_counts: counts }, {
      mayBeNull: true,
    });
  }
}
