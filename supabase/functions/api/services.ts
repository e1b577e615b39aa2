/** The parts that live as long as the isolate. They save work; no request depends on them. */
import { ConsoleSessions } from "./auth/console_sessions.ts";
import { KeyCache } from "./auth/key_cache.ts";
import { MinuteCounts } from "./auth/minute_counts.ts";
import { busyAccount } from "./auth/refusals.ts";
import { RequestCounts } from "./auth/request_counts.ts";
import { InFlightCompactions } from "./files/in_flight_compactions.ts";
import { HealthProbe } from "./maintenance/health_probe.ts";
import {
  ADDRESS_REQUESTS_PER_MINUTE,
  ADDRESSES_REMEMBERED_MAX,
  BODY_BUDGET_BYTES,
  BODY_PROJECT_BYTES,
  CHANGES_POLL_DEADLINE_MILLISECONDS,
  COSTLY_REQUESTS_AT_ONCE,
  COSTLY_WAITING_MAX,
  FILE_COMMITS_AT_ONCE,
  FREE_FOLLOWS_PER_MINUTE,
  HEALTH_PROBE_DEADLINE_MILLISECONDS,
  INDEX_DEADLINE_MILLISECONDS,
  KEYS_REMEMBERED_MAX,
  READ_AHEAD_BUDGET_BYTES,
  SEARCH_READ_DEADLINE_MILLISECONDS,
  SWEEP_DEADLINE_MILLISECONDS,
  SWEEP_EVERY_COMMITS,
  USAGE_DEADLINE_MILLISECONDS,
} from "./limits.ts";
import type { Accounts } from "./ports/accounts.ts";
import type { Grant, KeyHash } from "./ports/answer.ts";
import type { Metadata } from "./ports/metadata.ts";
import type { Embedder, IndexedScope, SearchIndex } from "./ports/search_index.ts";
import type { Segments } from "./ports/segments.ts";
import type { Background } from "./runtime/background.ts";
import { BodyBudget } from "./runtime/body_budget.ts";
import { ByteBudget } from "./runtime/byte_budget.ts";
import type { Clock } from "./runtime/clock.ts";
import { Deadline } from "./runtime/deadline.ts";
import { lazy } from "./runtime/lazy.ts";
import { LruCache } from "./runtime/lru_cache.ts";
import type { Log } from "./runtime/log.ts";
import { ProjectWatch } from "./runtime/project_watch.ts";
import { Slots } from "./runtime/slots.ts";
import { LiveReadSlots } from "./search/live_read_slots.ts";
import { IndexScheduler } from "./search/index_scheduler.ts";
import type { SearchParts } from "./search/indexer.ts";
import { mailSender } from "./mail/sender.ts";
import type { MailSettings } from "./mail/settings.ts";
import type { WebhookParts } from "./webhooks/mod.ts";

/** What follows answers is loaded when it is first needed, so that a cold start does not pay for it. */
const loadIndexer = lazy(() => import("./search/indexer.ts"));
const loadEmbedder = lazy(() => import("./search/chunk_embedder.ts"));
const loadOAuth = lazy(() => import("./oauth/server.ts"));
const loadOutside = lazy(() => import("./outbound/outside.ts"));
const loadWebhooks = lazy(() => import("./webhooks/mod.ts"));
const loadSweep = lazy(() => import("./maintenance/sweep.ts"));

/** Settings of the operator for apps that sign in. */
export interface OAuthSettings {
  /** The address of the console, without trailing slash. */
  readonly consoleUrl: string;
  /** Names the server, if not its own address does. */
  readonly issuer: string | undefined;
}

/** Database, Storage and model; their calls have a common deadline. */
export interface Backend {
  readonly metadata: Metadata;
  readonly segments: Segments;
  readonly accounts: Accounts;
  /** Null where no model is configured. */
  readonly embedder: Embedder | null;
}

/** The same for work after a response; these calls carry no API key. */
export interface BackgroundBackend extends Omit<Backend, "accounts"> {
  readonly index: SearchIndex;
}

/** The parts of the service that `index.ts` provides. */
export interface Parts {
  /** Returns the back end for one request. Cheap, since connections are reused. */
  readonly connect: (deadline: Deadline) => Backend;
  /** Returns the back end for one piece of background work: indexing, counting usage, a slice of the sweep. */
  readonly connectBackground: (deadline: Deadline) => BackgroundBackend;
  readonly log: Log;
  readonly secretKeys: readonly [string, ...string[]];
  /** `host:port` of hosts that the service may call although they are private: documents of apps, and webhooks. */
  readonly outboundAllowedHosts: readonly string[];
  /** Where people answer the requests of apps; null: apps cannot sign in. */
  readonly oauth: OAuthSettings | null;
  /** Null: the service sends no mails. */
  readonly mail: MailSettings | null;
  /** Origins of browsers that may call `/mcp`, besides loopback ones: the service's own, and those of the settings. */
  readonly mcpAllowedOrigins: readonly string[];
  readonly background: Background;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Measures waits. */
  readonly clock: Clock;
}

export type Services = ReturnType<typeof createServices>;

export function createServices(parts: Parts) {
  const readAhead = new ByteBudget(READ_AHEAD_BUDGET_BYTES);
  const { clock } = parts;
  const searchParts = (deadline: Deadline) => ({
    ...parts.connectBackground(deadline),
    segments: parts.connectBackground(deadline.part(SEARCH_READ_DEADLINE_MILLISECONDS)).segments,
    readAhead,
  });
  const indexing = scheduleIndexing(parts, searchParts);
  const sendMail = mailSender(parts);
  const webhooks = lazy(async () => (await loadWebhooks()).createWebhooks({ ...parts, sendMail }));
  const sweepAfterCommit = sweepAfterCommits(parts, webhooks);
  /** Called after a commit or an event of a branch; delivers it if the project has webhooks. */
  const onEvent = (grant: Grant | undefined) => {
    if (!grant?.hasWebhooks) return;
    const started = webhooks().then(({ scheduler }) => scheduler.committed(grant.projectId));
    parts.background(started.catch((error) => parts.log.backgroundFault("webhooks", error)), "webhooks");
  };
  const connectToPoll = () => parts.connect(new Deadline(CHANGES_POLL_DEADLINE_MILLISECONDS, clock)).metadata;
  return {
    keys: new KeyCache(),
    failedAuth: new MinuteCounts(ADDRESS_REQUESTS_PER_MINUTE, ADDRESSES_REMEMBERED_MAX),
    freeFollows: new MinuteCounts(FREE_FOLLOWS_PER_MINUTE, KEYS_REMEMBERED_MAX),
    costlySlots: new Slots(COSTLY_REQUESTS_AT_ONCE, busyAccount, COSTLY_WAITING_MAX),
    requestCounts: new RequestCounts({
      ...parts,
      connect: () => parts.connectBackground(new Deadline(USAGE_DEADLINE_MILLISECONDS, clock)).metadata,
    }),
    sessions: new ConsoleSessions(parts.secretKeys[0]),
    /** Apps that sign in. */
    oauthServer: lazy(async () => {
      const [{ OAuthServer }, { Outside }] = await Promise.all([loadOAuth(), loadOutside()]);
      return new OAuthServer(parts.secretKeys[0], new Outside(parts.outboundAllowedHosts));
    }),
    bodyBudget: new BodyBudget(BODY_BUDGET_BYTES, BODY_PROJECT_BYTES),
    readAhead,
    /** Links that have written their one version, by the hashes of their tokens: no link is used twice. */
    usedLinks: new LruCache<KeyHash, true>(KEYS_REMEMBERED_MAX),
    inFlightCompactions: new InFlightCompactions(),
    editSlots: new Slots(1),
    /** Requests that wait for changes. */
    changeWatch: watchChanges(connectToPoll, clock),
    /** Searches that wait for the index. */
    indexWatch: new ProjectWatch<IndexedScope>(
      (projectId, scopes) => connectToPoll().areIndexed(projectId, scopes),
      clock,
    ),
    liveReadSlots: new LiveReadSlots(),
    commitSlots: new Slots(FILE_COMMITS_AT_ONCE),
    health: new HealthProbe(
      () => parts.connect(new Deadline(HEALTH_PROBE_DEADLINE_MILLISECONDS, clock)),
      clock,
      parts.log,
    ),
    /** Null: the service sends no mails. */
    sendMail,
    webhooks,
    onEvent,
    /** Called after each commit: indexing, deliveries, and sometimes a slice of the sweep, follow the response. */
    onCommit: (grant: Grant | undefined) => {
      indexing.committed();
      onEvent(grant);
      sweepAfterCommit();
    },
    /** Called where files wait to be indexed. */
    onPending: indexing.start,
    async indexBacklog(deadline: Deadline, begun?: string) {
      const { indexBacklog } = await loadIndexer();
      return await indexBacklog(searchParts(deadline), parts.log, deadline, begun);
    },
  };
}

/** Waits until a project has a change after the position that was read. */
export function watchChanges(
  connect: () => Pick<Metadata, "newestChange">,
  clock: Clock,
): ProjectWatch<number> {
  return new ProjectWatch(async (projectId, positions) => {
    // The database needs to search only after the highest position: changes up to it exist already.
    const newest = await connect().newestChange(projectId, Math.max(...positions));
    return positions.map((position) => newest > position);
  }, clock);
}

/** Schedules texts and embeddings separately, so that texts never wait for the model. */
function scheduleIndexing(
  { background, log, clock }: Parts,
  searchParts: (deadline: Deadline) => SearchParts,
): { committed(): void; start(): void } {
  const connect = () => searchParts(new Deadline(INDEX_DEADLINE_MILLISECONDS, clock));
  const embedding = new IndexScheduler(
    async () => (await loadEmbedder()).embedLeased(connect(), log),
    background,
    log,
  );
  const indexing = new IndexScheduler(
    async () => {
      const { indexLeased } = await loadIndexer();
      const parts = connect();
      const taken = await indexLeased(parts, log);
      if (taken.files > 0 && parts.embedder) embedding.start();
      return taken;
    },
    background,
    log,
  );
  return {
    committed() {
      indexing.committed();
      // Tells the embedding schedule of the commit, since commits have priority over embedding, too.
      embedding.committed();
    },
    start() {
      indexing.start();
      embedding.start();
    },
  };
}

/** Sweeps one slice in the background after every SWEEP_EVERY_COMMITS commits. A failure is only logged. */
function sweepAfterCommits(
  { connectBackground, background, log, clock }: Parts,
  webhooks: () => Promise<WebhookParts>,
): () => void {
  let commits = 0;
  const sweep = async () => {
    const { sweepSlice } = await loadSweep();
    const { metadata, segments } = connectBackground(new Deadline(SWEEP_DEADLINE_MILLISECONDS, clock));
    await sweepSlice(metadata, segments);
    await (await webhooks()).scheduler.sweep();
  };
  return () => {
    if (++commits % SWEEP_EVERY_COMMITS !== 0) return;
    background(sweep().catch((error) => log.backgroundFault("sweep", error)), "sweep");
  };
}
