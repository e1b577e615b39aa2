/**
 * The service with a breakable way to Supabase, in this process: each project meets an isolate of its own, whose clock
 * moves on whenever it waits for what will not come. So no test waits, and what a request waited is known exactly.
 */
import { createClient } from "@supabase/supabase-js";
import { Notices } from "../../../supabase/functions/api/adapters/notices.ts";
import { supabaseAccounts } from "../../../supabase/functions/api/adapters/supabase_accounts.ts";
import { supabaseMetadata } from "../../../supabase/functions/api/adapters/supabase_metadata.ts";
import {
  segmentCache,
  SupabaseSegments,
} from "../../../supabase/functions/api/adapters/supabase_segments.ts";
import { BACKEND_CALL_TIMEOUT_MILLISECONDS } from "../../../supabase/functions/api/limits.ts";
import { buildApp } from "../../../supabase/functions/api/app.ts";
import type { Embedder, SearchIndex } from "../../../supabase/functions/api/ports/search_index.ts";
import { concatenate } from "../../../supabase/functions/api/runtime/bytes.ts";
import type { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import type { Log, RequestLine } from "../../../supabase/functions/api/runtime/log.ts";
import { ManualClock } from "../manual_clock.ts";
import { startTestStack } from "../stack/test_stack.ts";
import { type Watch, watched } from "./faults.ts";
import { asOfRoute, Laboratory, type Outcome, type Sending, type Tenant } from "./laboratory.ts";

/** What an isolate has logged. */
export interface LogLines {
  readonly requests: RequestLine[];
  readonly notices: string[];
  readonly faults: string[];
  readonly defects: unknown[];
  readonly background: unknown[];
}

/** Nothing is queued: indexing has tests of its own. */
const EMPTY_INDEX: SearchIndex = {
  claimTexts: () => Promise.resolve({ claimId: "", files: [], nextDueMilliseconds: null }),
  claimChunks: () => Promise.resolve({ claimId: "", files: [], nextDueMilliseconds: null }),
  storeTexts: () => Promise.resolve(),
  noteFailures: () => Promise.resolve(),
  storeEmbeddings: () => Promise.resolve(),
  requeue: () => Promise.resolve(0),
};

export interface Supabase {
  readonly url: string;
  readonly secretKey: string;
  readonly publishableKey: string;
}

/** One isolate of the function. */
export class Isolate {
  readonly clock = new ManualClock();
  readonly log: LogLines = { requests: [], notices: [], faults: [], defects: [], background: [] };
  readonly handle: (request: Request) => Promise<Response>;
  /** What happens to its calls; null: nothing. */
  watch: Watch | null = null;
  #forwarding = 0;
  /** They go on after an answer. */
  readonly #compactions: Promise<unknown>[] = [];
  /** Whether a call was never answered. */
  #isSilent = false;

  constructor(
    { url, secretKey, publishableKey }: Supabase,
    embedder: (deadline: Deadline) => Embedder | null,
  ) {
    const auth = { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false };
    const global = { fetch: this.#fetch.bind(this) };
    const client = createClient(url, secretKey, { auth, global });
    const accounts = createClient(url, publishableKey, { auth, global });
    const log: Log = {
      request: (line) => void this.log.requests.push(line),
      backendFault: (call, tryNumber, reason) => void this.log.faults.push(`${call} ${tryNumber}: ${reason}`),
      actionRequired: (problem) => void this.log.notices.push(problem),
      corruptSegment: () => {},
      backgroundFault: (_work, error) => void this.log.background.push(error),
      defect: (_id, error) => void this.log.defects.push(error),
    };
    const notices = new Notices(log, this.clock);
    const cache = segmentCache();
    this.handle = buildApp({
      connect: (deadline) => {
        const parts = { log, notices, deadline };
        return {
          metadata: supabaseMetadata(client, parts),
          segments: new SupabaseSegments(() => client, parts, cache),
          accounts: supabaseAccounts(() => accounts, parts),
          embedder: embedder(deadline),
        };
      },
      connectIndex: (deadline) => ({
        index: EMPTY_INDEX,
        segments: new SupabaseSegments(() => client, { log, notices, deadline }, cache),
        embedder: null,
      }),
      connectUsage: () => ({ count: () => Promise.resolve() }),
      log,
      secretKeys: [secretKey],
      mcpAllowedOrigins: [],
      background: (work, name) => {
        if (name === "compaction") this.#compactions.push(work);
      },
      now: Date.now,
      clock: this.clock,
    });
  }

  /** Sends a request, reads its answer and waits for a compaction after it, while the clock passes over every wait. */
  ask(request: Request): Promise<Outcome> {
    return this.clock.runUntil(this.#ask(request), () => this.#horizon());
  }

  /** Pauses always pass; the time-out of a call passes only where one is not answered. */
  #horizon(): number {
    if (this.#forwarding > 0) return 0;
    return this.#isSilent ? Infinity : BACKEND_CALL_TIMEOUT_MILLISECONDS / 10;
  }

  async #ask(request: Request): Promise<Outcome> {
    const response = await this.handle(request);
    const chunks: Uint8Array[] = [];
    let broken = false;
    try {
      for await (const chunk of response.body ?? []) chunks.push(chunk);
    } catch {
      broken = true;
    }
    await Promise.allSettled(this.#compactions.splice(0));
    return { status: response.status, headers: response.headers, bytes: concatenate(chunks), broken };
  }

  #fetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
    const forward = () => this.#forward(input, init);
    if (this.watch === null) return forward();
    const url = input instanceof Request ? input.url : String(input);
    const call = { method: init.method ?? "GET", url, at: this.clock.now() };
    return watched(this.watch, call, forward, () => this.#isSilent = true);
  }

  async #forward(input: RequestInfo | URL, init: RequestInit): Promise<Response> {
    this.#forwarding++;
    try {
      const response = await fetch(input, init);
      const hasBody = ![204, 205, 304].includes(response.status);
      const body = await response.arrayBuffer();
      return new Response(hasBody ? body : null, response);
    } finally {
      this.#forwarding--;
    }
  }
}

/** A laboratory whose process under test is an isolate for each project. */
export class Isolates extends Laboratory {
  readonly #isolates = new Map<string, Isolate>();

  static override async start(): Promise<Isolates> {
    return new Isolates(await startTestStack(() => null), null);
  }

  get supabase(): Supabase {
    const { backendUrl, secretKey, publishableKey } = this.stack;
    return { url: backendUrl, secretKey, publishableKey };
  }

  /** The isolate that the project's requests meet. */
  isolateOf(tenant: Tenant): Isolate {
    const isolate = this.#isolates.get(tenant.id) ?? new Isolate(this.supabase, () => null);
    this.#isolates.set(tenant.id, isolate);
    return isolate;
  }

  override async send(tenant: Tenant, sending: Sending): Promise<Outcome> {
    return asOfRoute(sending, await this.isolateOf(tenant).ask(requestOf(sending, tenant.key)));
  }

  override watch(tenant: Tenant, decide: Watch["decide"], afterActing?: () => Promise<void>): Watch {
    const watch = { decide, afterActing, calls: [] };
    this.isolateOf(tenant).watch = watch;
    return watch;
  }

  /** The isolate ends with it: the project's next request meets one that remembers nothing. */
  override unwatch(watch: Watch): void {
    for (const [id, isolate] of this.#isolates) {
      if (isolate.watch === watch) this.#isolates.delete(id);
    }
  }

  override now(tenant: Tenant): number {
    return this.isolateOf(tenant).clock.now();
  }
}

export function requestOf({ method, path, headers, body }: Sending, key: string | null): Request {
  const isPlain = typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
  const sent = new Headers(headers);
  if (key !== null) sent.set("x-api-key", key);
  if (body !== undefined && !isPlain) sent.set("content-type", "application/json");
  const bytes = body === undefined ? null : isPlain ? body as BodyInit : JSON.stringify(body);
  // As a server hands it over: with the length of what comes.
  const length = typeof bytes === "string"
    ? new TextEncoder().encode(bytes).length
    : bytes instanceof Uint8Array
    ? bytes.length
    : undefined;
  if (length !== undefined) sent.set("content-length", String(length));
  return new Request(`http://function/api${path}`, { method, headers: sent, body: bytes });
}
