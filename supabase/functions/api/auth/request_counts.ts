/**
 * Counts requests by project, key and day in the memory of the isolate, which costs a request one addition. The counts
 * are sent to the database in the background, USAGE_FLUSH_MILLISECONDS after the first request. An isolate that is
 * killed earlier loses them.
 */
import type { Background } from "../runtime/background.ts";
import { USAGE_COUNTS_MAX, USAGE_FLUSH_MILLISECONDS } from "../limits.ts";
import type { Metadata, RequestCount } from "../ports/metadata.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";

interface RequestCountsParts {
  readonly connect: () => Pick<Metadata, "countRequests">;
  readonly background: Background;
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Log, "backgroundFault">;
}

export class RequestCounts {
  #counts = new Map<string, RequestCount>();
  #isDue = false;

  constructor(private readonly parts: RequestCountsParts) {}

  /** Counts one request of a key, or of the console (null). Returns at once. */
  count(projectId: string, keyId: string | null): void {
    const day = new Date(this.parts.now()).toISOString().slice(0, 10);
    this.#add({ projectId, keyId, day, requests: 1 });
    if (this.#isDue) return;
    this.#isDue = true;
    this.parts.background(this.#flushLater(), "usage");
  }

  /** Sends the counts to the database. Throws where the back end is out of reach; then the counts are kept. */
  async flush(): Promise<void> {
    if (this.#counts.size === 0) return;
    const counts = [...this.#counts.values()];
    this.#counts = new Map();
    try {
      await this.parts.connect().countRequests(counts);
    } catch (error) {
      for (const count of counts) this.#add(count);
      throw error;
    }
  }

  async #flushLater(): Promise<void> {
    await new Promise<void>((resolve) => this.parts.clock.after(USAGE_FLUSH_MILLISECONDS, resolve));
    this.#isDue = false;
    try {
      await this.flush();
    } catch (error) {
      this.parts.log.backgroundFault("usage", error);
    }
  }

  #add({ projectId, keyId, day, requests }: RequestCount): void {
    const name = `${projectId}/${keyId}/${day}`;
    const known = this.#counts.get(name);
    if (known === undefined && this.#counts.size >= USAGE_COUNTS_MAX) return;
    this.#counts.set(name, { projectId, keyId, day, requests: requests + (known?.requests ?? 0) });
  }
}
