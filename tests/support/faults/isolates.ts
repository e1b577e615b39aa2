/**
 * The service in this process, with a connection to Supabase that tests break. Each project has an isolate of its own,
 * whose clock skips every wait for an answer that never comes. So tests take no time to wait, and the time that a
 * request waited is known exactly.
 */
import { createClient } from "@supabase/supabase-js";
import { Notices } from "../../../supabase/functions/api/adapters/notices.ts";
import {
  supabaseAccounts,
  supabaseMetadata,
} from "../../../supabase/functions/api/adapters/supabase_metadata.ts";
import {
  segmentCache,
  SupabaseSegments,
} from "../../../supabase/functions/api/adapters/supabase_segments.ts";
import { BACKEND_CALL_TIMEOUT_MILLISECONDS } from "../../../supabase/functions/api/limits.ts";
import { buildApp } from "../../../supabase/functions/api/app.ts";
import type { Embedder, SearchIndex } from "../../../supabase/functions/api/ports/search_index.ts";
import type { Deadline } from "../../../supabase/functions/api/runtime/deadline.ts";
import type { Log, RequestLine } from "../../../supabase/functions/api/runtime/log.ts";
import { sentOf } from "../client/api.ts";
import { ManualClock } from "../manual_clock.ts";
import { startTestStack } from "../stack/test_stack.ts";
import { type Watch, watched } from "./faults.ts";
import { asOfRoute, Laboratory, type Outcome, outcomeOf, type Sending, type Tenant } from "./laboratory.ts";

/** The lines that an isolate has logged. */
export interface LogLines {
  readonly requests: RequestLine[];
  readonly notices: string[];
  readonly faults: string[];
  readonly defects: unknown[];
  readonly background: unknown[];
}

/** An index with an empty queue, since indexing has tests of its own. */
const EMPTY_INDEX: SearchIndex = {
  leaseTexts: () => Promise.resolve({ leaseId: "", files: [], nextDueMilliseconds: null }),
  leaseChunks: () => Promise.resolve({ leaseId: "", files: [], nextDueMilliseconds: null }),
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
  /** Decides the faults of its calls; null: no faults. */
  watch: Watch | null = null;
  #forwarding = 0;
  /** Compactions that continue after an answer. */
  readonly #compactions: Promise<unknown>[] = [];
  /** Whether a call was left without an answer. */
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
      connectBackground: (deadline) => {
        const parts = { log, notices, deadline };
        return {
          metadata: { ...supabaseMetadata(client, parts), countRequests: () => Promise.resolve() },
          segments: new SupabaseSegments(() => client, parts, cache),
          index: EMPTY_INDEX,
          embedder: null,
        };
      },
      log,
      secretKeys: [secretKey],
      mcpAllowedOrigins: [],
      outboundAllowedHosts: [],
      oauth: null,
      mail: null,
      background: (work, name) => {
        if (name === "compaction") this.#compactions.push(work);
      },
      now: Date.now,
      clock: this.clock,
    });
  }

  /** Sends a request, reads its answer and waits for a compaction after it; the clock skips every wait. */
  ask(request: Request): Promise<Outcome> {
    return this.clock.runUntil(this.#ask(request), () => this.#horizon());
  }

  /** Pauses are always skipped; the timeout of a call only if a call has not been answered. */
  #horizon(): number {
    if (this.#forwarding > 0) return 0;
    return this.#isSilent ? Infinity : BACKEND_CALL_TIMEOUT_MILLISECONDS / 10;
  }

  async #ask(request: Request): Promise<Outcome> {
    const response = await this.handle(request);
    const outcome = await outcomeOf(response);
    await Promise.allSettled(this.#compactions.splice(0));
    return outcome;
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

/** A laboratory in which each project has an isolate of its own as the process under test. */
export class Isolates extends Laboratory {
  readonly #isolates = new Map<string, Isolate>();

  static override async start(): Promise<Isolates> {
    return new Isolates(await startTestStack());
  }

  get supabase(): Supabase {
    const { backendUrl, secretKey, publishableKey } = this.stack;
    return { url: backendUrl, secretKey, publishableKey };
  }

  /** The isolate that receives the project's requests. */
  isolateOf(tenant: Tenant): Isolate {
    const isolate = this.#isolates.get(tenant.id) ?? new Isolate(this.supabase, () => null);
    this.#isolates.set(tenant.id, isolate);
    return isolate;
  }

  override async send(tenant: Tenant, sending: Sending): Promise<Outcome> {
    return asOfRoute(sending, await this.isolateOf(tenant).ask(requestOf(sending, tenant.key)));
  }

  /** Breaks the calls of the project's isolate. */
  watch(tenant: Tenant, decide: Watch["decide"], afterActing?: () => Promise<void>): Watch {
    const watch = { decide, afterActing, calls: [] };
    this.isolateOf(tenant).watch = watch;
    return watch;
  }

  /** Also ends the isolate: the project's next request meets a new one, with nothing in memory. */
  unwatch(watch: Watch): void {
    for (const [id, isolate] of this.#isolates) {
      if (isolate.watch === watch) this.#isolates.delete(id);
    }
  }

  /** Milliseconds, on the clock of the project's isolate. */
  now(tenant: Tenant): number {
    return this.isolateOf(tenant).clock.now();
  }
}

export function requestOf(sending: Sending, key: string | null): Request {
  const { url, headers, ...sent } = sentOf("http://function/api", key, sending.method, sending.path, sending);
  // A server passes a request on with the length of its body.
  if (sent.body instanceof Uint8Array) headers.set("content-length", String(sent.body.length));
  return new Request(url, { ...sent, headers });
}
