/** The edge function: environment → parts → server. The only place that reads the environment. */
import { createClient } from "@supabase/supabase-js";
import { fetchInTime } from "./adapters/backend.ts";
import { SupabaseMetadata } from "./adapters/supabase_metadata.ts";
import { SupabaseSegments } from "./adapters/supabase_segments.ts";
import { buildApp } from "./app.ts";
import { consoleLog } from "./log.ts";

/** Given by the edge runtime: keeps the isolate alive until the work is done. */
declare const EdgeRuntime: { waitUntil(work: Promise<unknown>): void };

function required(name: string): string {
  const value = Deno.env.get(name);
  if (!value) throw new Error(`The environment variable ${name} is missing.`);
  return value;
}

/** The platform gives secret keys as a JSON object by name; older projects have the service role key alone. */
function secretKeys(): [string, ...string[]] {
  const named: unknown = JSON.parse(Deno.env.get("SUPABASE_SECRET_KEYS") ?? "{}");
  const { default: first, ...others }: Record<string, unknown> = { default: undefined, ...Object(named) };
  const legacy = Deno.env.get("SUPABASE_SERVICE_ROLE_KEY");
  const [key, ...rest] = [first, ...Object.values(others), legacy].filter((key) =>
    typeof key === "string" && key !== ""
  );
  if (typeof key !== "string") {
    throw new Error("There is neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY.");
  }
  return [key, ...rest.filter((other) => typeof other === "string")];
}

const operatorKeys = secretKeys();
const client = createClient(required("SUPABASE_URL"), operatorKeys[0], {
  auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  global: { fetch: fetchInTime },
});

Deno.serve(buildApp({
  metadata: new SupabaseMetadata(client, consoleLog),
  segments: new SupabaseSegments(client, consoleLog),
  log: consoleLog,
  operatorKeys,
  background: (work) => {
    if ("EdgeRuntime" in globalThis) EdgeRuntime.waitUntil(work);
  },
  now: Date.now,
}));
