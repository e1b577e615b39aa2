/** The state of one request while it passes through the service. */
import { clientAddress } from "./auth/failed_auth_limiter.ts";
import { Gate } from "./auth/gate.ts";
import type { Context } from "./context.ts";
import type { Operation } from "./http/respond.ts";
import type { Accounts } from "./ports/accounts.ts";
import type { Metadata } from "./ports/metadata.ts";
import type { Segments } from "./ports/segments.ts";
import { Stopwatch } from "./runtime/stopwatch.ts";
import type { Parts, Services } from "./services.ts";

export interface RequestState {
  readonly id: string;
  readonly gate: Gate;
  /** Times the calls of this request's ports. */
  readonly backendTime: Stopwatch;
  readonly metadata: Metadata;
  readonly segments: Segments;
  readonly accounts: Accounts;
  /** Of the error that is the response. */
  code: string | undefined;
  /** Of the matching route. */
  operation: Operation | undefined;
}

export function createRequestState(parts: Parts, services: Services, headers: Headers): RequestState {
  const id = crypto.randomUUID();
  const backendTime = new Stopwatch();
  const metadata = backendTime.time(parts.metadata);
  const accounts = backendTime.time(parts.accounts);
  const { sessions, keys, failedAuth } = services;
  const { secretKeys, now } = parts;
  const address = clientAddress(headers);
  const gate = new Gate(
    { metadata, accounts, sessions, keys, failedAuth, address, secretKeys, now },
    id,
  );
  return {
    id,
    gate,
    backendTime,
    metadata,
    segments: backendTime.time(parts.segments),
    accounts,
    code: undefined,
    operation: undefined,
  };
}

/** What the route's handler works with. */
export function contextOf(
  { gate, metadata, segments, accounts }: RequestState,
  services: Services,
  { now }: Parts,
  request: Request,
  onEnd: Context["onEnd"],
): Context {
  const { bodyBudget, readAhead, pendingCompactions, inFlightCompactions, embedder } = services;
  const { onCommit, onPending, indexBacklog } = services;
  return {
    ...{ request, gate, metadata, segments, accounts, now, onEnd },
    ...{ bodyBudget, readAhead, pendingCompactions, inFlightCompactions, embedder },
    ...{ onCommit, onPending, indexBacklog },
  };
}
