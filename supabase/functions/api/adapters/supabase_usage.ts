/** Usage over supabase-js. Like the calls for the search index, these are made after responses. */
import type { SupabaseClient } from "@supabase/supabase-js";
import type { Usage } from "../ports/usage.ts";
import type { CallParts } from "./backend.ts";
import { callFunction } from "./rpc.ts";

export function supabaseUsage(client: () => SupabaseClient, parts: CallParts): Usage {
  return {
    async count(counts) {
      await callFunction(client(), parts, "filestore_count_usage", { counts }, { mayBeNull: true });
    },
  };
}
