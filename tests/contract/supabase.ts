/** Clients of a local stack for the adapters, and of addresses where nothing listens. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { fetchInTime } from "../../supabase/functions/api/adapters/backend.ts";
import type { Log } from "../../supabase/functions/api/runtime/log.ts";

/** Faults are what some of these tests make. */
export const silent: Log = {
  request: () => {},
  backendFault: () => {},
  corruptSegment: () => {},
  backgroundFault: () => {},
  defect: () => {},
};

export function client(url: string, key: string, fetch: typeof fetchInTime = fetchInTime): SupabaseClient {
  return createClient(url, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch },
  });
}

/** A client of a port that was closed just now. */
export function unreachableClient(): SupabaseClient {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return client(`http://127.0.0.1:${port}`, "key");
}
