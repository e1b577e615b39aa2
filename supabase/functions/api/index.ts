/** The edge function: environment → parts → server. The only place that reads the environment. */
import { createClient } from "@supabase/supabase-js";
import { fetchInTime } from "./adapters/backend.ts";
import { SupabaseMetadata } from "./adapters/supabase_metadata.ts";
import { SupabaseSegments } from "./adapters/supabase_segments.ts";
import { buildApp } from "./app.ts";
import { consoleLog } from "./log.ts";

function required(name: string): string {
  const value = Deno.env.get(name);
  if (!value) throw new Error(`The environment variable ${name} is missing.`);
  return value;
}

/** The platform gives secret keys as a JSON object by name; older projects have the service role key alone. */
function secretKey(): string {
  const named: unknown = JSON.parse(Deno.env.get("SUPABASE_SECRET_KEYS") ?? "{}");
  if (
    typeof named === "object" && named !== null && "default" in named && typeof named.default === "string"
  ) {
    return named.default;
  }
  return required("SUPABASE_SERVICE_ROLE_KEY");
}

const client = createClient(required("SUPABASE_URL"), secretKey(), {
  auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  global: { fetch: fetchInTime },
});

Deno.serve(buildApp({
  metadata: new SupabaseMetadata(client, consoleLog),
  segments: new SupabaseSegments(client, consoleLog),
  log: consoleLog,
  now: Date.now,
}));
