/** The edge function: environment → parts → server. The only place that reads the environment. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { fetchInTime } from "./adapters/backend.ts";
import { SupabaseAccounts } from "./adapters/supabase_accounts.ts";
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

/** The platform gives keys as a JSON object by name; older projects have one of the older kind alone. */
function keys(name: string, legacyName: string): [string, ...string[]] {
  const named: unknown = JSON.parse(Deno.env.get(name) ?? "{}");
  const { default: first, ...others }: Record<string, unknown> = { default: undefined, ...Object(named) };
  const legacy = Deno.env.get(legacyName);
  const [key, ...rest] = [first, ...Object.values(others), legacy].filter((key) =>
    typeof key === "string" && key !== ""
  );
  if (typeof key !== "string") throw new Error(`There is neither ${name} nor ${legacyName}.`);
  return [key, ...rest.filter((other) => typeof other === "string")];
}

function supabase(key: string): SupabaseClient {
  return createClient(required("SUPABASE_URL"), key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch: fetchInTime },
  });
}

const operatorKeys = keys("SUPABASE_SECRET_KEYS", "SUPABASE_SERVICE_ROLE_KEY");
const [publishableKey] = keys("SUPABASE_PUBLISHABLE_KEYS", "SUPABASE_ANON_KEY");
const client = supabase(operatorKeys[0]);

Deno.serve(buildApp({
  metadata: new SupabaseMetadata(client, consoleLog),
  segments: new SupabaseSegments(client, consoleLog),
  accounts: new SupabaseAccounts(supabase(publishableKey), consoleLog),
  log: consoleLog,
  operatorKeys,
  background: (work) => {
    if ("EdgeRuntime" in globalThis) EdgeRuntime.waitUntil(work);
  },
  now: Date.now,
}));
