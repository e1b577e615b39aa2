/** The context of a route's handler: one request, and the parts of the service. */
import type { Gate } from "./auth/gate.ts";
import type { Deadline } from "./runtime/deadline.ts";
import type { ReleaseSlot } from "./runtime/slots.ts";
import type { Backend, Parts, Services } from "./services.ts";

export interface Context
  extends
    Backend,
    Omit<Services, "indexBacklog" | "onCommit" | "onEvent">,
    Pick<Parts, "log" | "mcpAllowedOrigins" | "oauth" | "background" | "now" | "clock"> {
  readonly request: Request;
  readonly gate: Gate;
  /** How long the request may wait for the back end. */
  readonly deadline: Deadline;
  /**
   * Takes one of the account's slots for costly requests; the returned function frees it. Throws 429
   * `RATE_LIMIT_EXCEEDED`, which counts nothing, where no slot becomes free within COSTLY_WAIT_MILLISECONDS.
   */
  readonly beginCostly: () => Promise<ReleaseSlot>;
  /** To be called after each commit. */
  readonly onCommit: () => void;
  /** To be called after a change of a branch that is no commit. */
  readonly onEvent: () => void;
  /** Indexes some of the files that wait; returns how many. */
  readonly indexBacklog: (begun?: string) => Promise<number>;
  /** Runs `release` when the handler has returned or thrown. */
  readonly onEnd: (release: () => void) => void;
}
