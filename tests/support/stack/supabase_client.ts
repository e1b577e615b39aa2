/** Clients of a local stack for the adapters, and clients of addresses where nothing listens. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { supabaseMetadata } from "../../../supabase/functions/api/adapters/supabase_metadata.ts";
import { BUCKET, SupabaseSegments } from "../../../supabase/functions/api/adapters/supabase_segments.ts";
import { fetchInTime } from "../../../supabase/functions/api/adapters/backend.ts";
import { systemClock } from "../../../supabase/functions/api/runtime/clock.ts";
import { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import type { CallParts } from "../../../supabase/functions/api/adapters/backend.ts";
import { Notices } from "../../../supabase/functions/api/adapters/notices.ts";
import type { Log } from "../../../supabase/functions/api/runtime/log.ts";

/** A silent log, since some of these tests cause faults. */
export const silent: Log = {
  request: () => {},
  backendFault: () => {},
  actionRequired: () => {},
  corruptSegment: () => {},
  backgroundFault: () => {},
  defect: () => {},
};

/** The parts of an adapter that logs nothing and bounds each call by itself. */
export function silentParts(): CallParts {
  const deadline = new Deadline(Infinity, systemClock);
  return { log: silent, notices: new Notices(silent, systemClock), deadline };
}

export function client(url: string, key: string, fetch: typeof fetchInTime = fetchInTime): SupabaseClient {
  return createClient(url, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch },
  });
}

/** The function's ports on a running stack, in this process, with nothing in memory. */
export function portsOf(
  { backendUrl, secretKey }: { readonly backendUrl: string; readonly secretKey: string },
) {
  const supabase = client(backendUrl, secretKey);
  return {
    bucket: supabase.storage.from(BUCKET),
    metadata: supabaseMetadata(supabase, silentParts()),
    segments: new SupabaseSegments(() => supabase, silentParts()),
  };
}
