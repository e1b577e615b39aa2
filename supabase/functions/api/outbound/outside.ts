/** The hosts outside that the service calls for others: documents of OAuth clients, and webhooks. */
import { OUTBOUND_RESOLVE_MILLISECONDS } from "../limits.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import { Deadline, LATE } from "../runtime/deadline.ts";
import { isPublicAddress } from "./public_address.ts";
import {
  addressesOf,
  type Dialler,
  type OutboundRequest,
  runtimeDialler,
  sendPublic,
} from "./public_request.ts";

/** The answer took too long. */
export class LateError extends Error {
  override readonly name = "LateError";
}

export class Outside {
  /** `allowedHosts`: `host:port` of hosts that may be private, and be called without TLS. */
  constructor(
    private readonly allowedHosts: readonly string[] = [],
    private readonly dialler: Dialler = runtimeDialler,
    private readonly clock: Clock = systemClock,
  ) {}

  /** Whether any host can be called: a runtime may be unable to, or forbid it. */
  get isAvailable(): boolean {
    return this.allowedHosts.length > 0 || this.dialler !== runtimeDialler || mayConnect();
  }

  /** Whether the operator allows the host, whatever its address is. */
  isTrusted({ hostname, port, protocol }: URL): boolean {
    return this.allowedHosts.includes(`${hostname}:${port || (protocol === "http:" ? 80 : 443)}`);
  }

  /** Whether the host has an address that is not public. A name that has none at the moment may get a public one. */
  async isPrivate(url: URL): Promise<boolean> {
    if (this.isTrusted(url)) return false;
    const deadline = new Deadline(OUTBOUND_RESOLVE_MILLISECONDS, this.clock);
    const addresses = await deadline.within(Infinity, addressesOf(this.dialler, url));
    return addresses !== LATE && !addresses.every(isPublicAddress);
  }

  /** Sends a request; `read` gets the connection. Throws LateError, and NotPublicError; other errors are of the host. */
  async request<Answer>(
    url: URL,
    request: OutboundRequest,
    milliseconds: number,
    read: (connection: Deno.Conn) => Promise<Answer>,
  ): Promise<Answer> {
    let isOver = false;
    const open = new Set<Deno.Conn>();
    const add = (connection: Deno.Conn) => isOver ? close(connection) : open.add(connection);
    const answering = sendPublic(this.dialler, url, this.isTrusted(url), request, add).then(read);
    try {
      const answer = await new Deadline(milliseconds, this.clock).within(Infinity, answering);
      if (answer === LATE) throw new LateError("late");
      return answer;
    } finally {
      isOver = true;
      open.forEach(close);
    }
  }
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch { /* TLS has taken it over */ }
}

function mayConnect(): boolean {
  try {
    return typeof Deno.resolveDns === "function" && typeof Deno.startTls === "function" &&
      Deno.permissions.querySync({ name: "net" }).state === "granted";
  } catch {
    // A runtime without permissions forbids nothing.
    return true;
  }
}
