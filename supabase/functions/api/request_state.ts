/** The state of one request while the service handles it. */
import { clientAddress } from "./auth/client_address.ts";
import { Gate } from "./auth/gate.ts";
import type { Context } from "./context.ts";
import type { Operation } from "./contract/service.ts";
import { BACKEND_DEADLINE_MILLISECONDS } from "./limits.ts";
import { Deadline } from "./runtime/deadline.ts";
import { Stopwatch } from "./runtime/stopwatch.ts";
import type { Backend, Parts, Services } from "./services.ts";

export interface RequestState {
  readonly id: string;
  readonly gate: Gate;
  /** How long this request may wait for the back end. */
  readonly deadline: Deadline;
  /** Times the calls of this request's ports. */
  readonly backendTime: Stopwatch;
  readonly backend: Backend;
  /** The `WWW-Authenticate` of a 401. */
  challenge: string;
  /** The code of the error with which the request is answered. */
  code: string | undefined;
  /** The operation of the matching route. */
  operation: Operation | undefined;
}

export function createRequestState(parts: Parts, services: Services, headers: Headers): RequestState {
  const id = crypto.randomUUID();
  const backendTime = new Stopwatch();
  const deadline = new Deadline(BACKEND_DEADLINE_MILLISECONDS, parts.clock);
  const { metadata, segments, accounts, embedder } = parts.connect(deadline);
  const backend = {
    metadata: backendTime.time(metadata),
    segments: backendTime.time(segments),
    accounts: backendTime.time(accounts),
    embedder,
  };
  const gate = new Gate({ ...services, ...parts, ...backend, address: clientAddress(headers) }, id);
  return {
    id,
    gate,
    deadline,
    backendTime,
    backend,
    challenge: "Bearer",
    code: undefined,
    operation: undefined,
  };
}

/** The context that the route's handler gets. */
export function contextOf(
  { gate, deadline, backend }: RequestState,
  services: Services,
  { background, log, now, clock, mcpAllowedOrigins, oauth }: Parts,
  request: Request,
  onEnd: Context["onEnd"],
): Context {
  return {
    ...services,
    ...backend,
    ...{ request, gate, deadline, log, clock, now, background, mcpAllowedOrigins, oauth, onEnd },
    beginCostly: () => gate.beginCostly(services.costlySlots, clock, request.signal),
    onCommit: () => services.onCommit(gate.grant),
    onEvent: () => services.onEvent(gate.grant),
    indexBacklog: (begun) => services.indexBacklog(deadline, begun),
  };
}
