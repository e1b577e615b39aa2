/** The state of one request while the service handles it. */
import { clientAddress } from "./auth/client_address.ts";
import { Gate } from "./auth/gate.ts";
import type { Context } from "./context.ts";
import type { Operation } from "./contract/service.ts";
import type { Accounts } from "./ports/accounts.ts";
import type { Metadata } from "./ports/metadata.ts";
import type { Segments } from "./ports/segments.ts";
import { BACKEND_DEADLINE_MILLISECONDS } from "./limits.ts";
import type { Embedder } from "./ports/search_index.ts";
import { Deadline } from "./runtime/deadline.ts";
import { Stopwatch } from "./runtime/stopwatch.ts";
import type { Parts, Services } from "./services.ts";

export interface RequestState {
  readonly id: string;
  readonly gate: Gate;
  /** How long this request may wait for the back end. */
  readonly deadline: Deadline;
  /** Times the calls of this request's ports. */
  readonly backendTime: Stopwatch;
  readonly metadata: Metadata;
  readonly segments: Segments;
  readonly accounts: Accounts;
  readonly embedder: Embedder | null;
  /** The code of the error with which the request is answered. */
  code: string | undefined;
  /** The operation of the matching route. */
  operation: Operation | undefined;
}

export function createRequestState(parts: Parts, services: Services, headers: Headers): RequestState {
  const id = crypto.randomUUID();
  const backendTime = new Stopwatch();
  const deadline = new Deadline(BACKEND_DEADLINE_MILLISECONDS, parts.clock);
  const backend = parts.connect(deadline);
  const metadata = backendTime.time(backend.metadata);
  const accounts = backendTime.time(backend.accounts);
  const { sessions, keys, failedAuth, freeFollows } = services;
  const { secretKeys, now } = parts;
  const address = clientAddress(headers);
  const gate = new Gate(
    { metadata, accounts, sessions, keys, failedAuth, freeFollows, address, secretKeys, now },
    id,
  );
  return {
    id,
    gate,
    deadline,
    backendTime,
    metadata,
    segments: backendTime.time(backend.segments),
    accounts,
    embedder: backend.embedder,
    code: undefined,
    operation: undefined,
  };
}

/** The context that the route's handler gets. */
export function contextOf(
  { gate, deadline, metadata, segments, accounts, embedder }: RequestState,
  services: Services,
  { background, log, now, clock, mcpAllowedOrigins }: Parts,
  request: Request,
  onEnd: Context["onEnd"],
): Context {
  return {
    ...services,
    ...{
      request,
      gate,
      deadline,
      metadata,
      segments,
      accounts,
      embedder,
      log,
      clock,
      now,
      background,
      onEnd,
    },
    mcpAllowedOrigins,
    beginCostly: () => gate.beginCostly(services.costlySlots, clock, request.signal),
    indexBacklog: (begun) => services.indexBacklog(deadline, begun),
  };
}
