/** The edge function: environment → parts → server. The only place that reads the environment. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { type CallParts, fetchInTime } from "./adapters/backend.ts";
import { Notices } from "./adapters/notices.ts";
import { embeddingSettings } from "./adapters/embedding_settings.ts";
import { EndpointEmbedder, type ModelSession, SessionEmbedder } from "./adapters/embeddings.ts";
import { supabaseAccounts, supabaseMetadata, supabaseSearchIndex } from "./adapters/supabase_metadata.ts";
import { segmentCache, SupabaseSegments } from "./adapters/supabase_segments.ts";
import { buildApp } from "./app.ts";
import { systemClock } from "./runtime/clock.ts";
import type { Deadline } from "./runtime/deadline.ts";
import { mailSettings } from "./mail/settings.ts";
import { lazy } from "./runtime/lazy.ts";
import { consoleLog } from "./runtime/log.ts";
import type { Embedder } from "./ports/search_index.ts";
import type { OAuthSettings } from "./services.ts";

/** Provided by the edge runtime: keeps the isolate alive until the work is done. */
declare const EdgeRuntime: { waitUntil(work: Promise<unknown>): void };

/** Provided by Supabase's edge runtime only. */
declare const Supabase: { readonly ai: { readonly Session: new (model: string) => ModelSession } };

function required(name: string): string {
  const value = Deno.env.get(name);
  if (!value) throw new Error(`The environment variable ${name} is missing.`);
  return value;
}

/** The platform provides keys as a JSON object by name; older projects have a single legacy key. */
function keys(name: string, legacyName: string): [string, ...string[]] {
  const named: unknown = JSON.parse(Deno.env.get(name) ?? "{}");
  const { default: first, ...others }: Record<string, unknown> = { default: undefined, ...Object(named) };
  const legacy = Deno.env.get(legacyName);
  const [key, ...rest] = [first, ...Object.values(others), legacy].filter((key) =>
    typeof key === "string" && key !== ""
  );
  if (typeof key !== "string") throw new Error(`Neither ${name} nor ${legacyName} is set.`);
  return [key, ...rest.filter((other) => typeof other === "string")];
}

/** The words of a setting, separated by commas or spaces. */
function words(name: string): string[] {
  return (Deno.env.get(name) ?? "").split(/[\s,]+/).filter((word) => word !== "");
}

/** `X-Client-Info` distinguishes, in the project's API logs, calls of a request from those after its response. */
function supabase(key: string, clientInfo: string): SupabaseClient {
  return createClient(required("SUPABASE_URL"), key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { fetch: fetchInTime, headers: { "X-Client-Info": clientInfo } },
  });
}

/** Embeds by the configured endpoint, otherwise by the model of the edge runtime, if there is one. */
function embedders(): (parts: CallParts) => Embedder | null {
  const builtIn = "Supabase" in globalThis
    ? new SessionEmbedder((model) => new Supabase.ai.Session(model))
    : null;
  const settings = embeddingSettings((name) => Deno.env.get(name));
  if (settings === null) return () => builtIn;
  const { present, former } = settings;
  const before = (parts: CallParts) =>
    former && (former.model === builtIn?.model ? builtIn : new EndpointEmbedder(former, parts));
  return (parts) => new EndpointEmbedder(present, parts, before(parts));
}

/** Null without the console's address: a person has nowhere to answer an app. */
function oauthSettings(): OAuthSettings | null {
  const consoleUrl = (Deno.env.get("CONSOLE_URL") ?? "").replace(/\/+$/, "");
  if (consoleUrl === "") return null;
  const issuer = Deno.env.get("OAUTH_ISSUER") || undefined;
  return { consoleUrl, issuer };
}

const secretKeys = keys("SUPABASE_SECRET_KEYS", "SUPABASE_SERVICE_ROLE_KEY");
const [publishableKey] = keys("SUPABASE_PUBLISHABLE_KEYS", "SUPABASE_ANON_KEY");
const client = supabase(secretKeys[0], "filestore");
const backgroundClient = lazy(() => supabase(secretKeys[0], "filestore-background"));
const accountsClient = lazy(() => supabase(publishableKey, "filestore"));
const cache = segmentCache();
const embedder = embedders();
const notices = new Notices(consoleLog, systemClock);

Deno.serve(buildApp({
  connect(deadline: Deadline) {
    const parts = { log: consoleLog, notices, deadline };
    return {
      metadata: supabaseMetadata(client, parts),
      segments: new SupabaseSegments(() => client, parts, cache),
      accounts: supabaseAccounts(accountsClient, parts),
      embedder: embedder(parts),
    };
  },
  connectBackground(deadline: Deadline) {
    const parts = { log: consoleLog, notices, deadline };
    return {
      metadata: supabaseMetadata(backgroundClient(), parts),
      segments: new SupabaseSegments(backgroundClient, parts, cache),
      index: supabaseSearchIndex(backgroundClient, parts),
      embedder: embedder(parts),
    };
  },
  log: consoleLog,
  secretKeys,
  mcpAllowedOrigins: [new URL(required("SUPABASE_URL")).origin, ...words("MCP_ALLOWED_ORIGINS")],
  outboundAllowedHosts: words("OUTBOUND_ALLOWED_HOSTS"),
  oauth: oauthSettings(),
  mail: mailSettings((name) => Deno.env.get(name), () => notices.report("mail_settings")),
  background: (work) => {
    if ("EdgeRuntime" in globalThis) EdgeRuntime.waitUntil(work);
  },
  now: Date.now,
  clock: systemClock,
}));
