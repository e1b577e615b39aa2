/**
 * PGlite has one session. The dialect of @supabase/lite shares it between all requests without a lock, so that
 * statements of one request can run inside the transaction, and under the role, of another. Here the session is
 * locked: a query or transaction waits until the one before it has finished.
 *
 * Within one request the lock is reentrant: otherwise a query beside an open transaction of the same request would
 * deadlock.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type { PGlite } from "@supabase/lite/pglite";
import type { SessionPool } from "./postgres_dialect.ts";

/** The lock of one request: how many holders it has, and how to unlock it. */
interface RequestLock {
  holds: number;
  unlock: () => void;
}

const requests = new AsyncLocalStorage<RequestLock>();

/** Runs one request; its queries share the session once they hold it. */
export function asOneRequest<T>(work: () => Promise<T>): Promise<T> {
  return requests.run({ holds: 0, unlock: () => {} }, work);
}

/** The one session of `client`, for one request at a time. */
export class PgliteSession implements SessionPool<LockedSession> {
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly client: PGlite) {}

  async acquire(): Promise<LockedSession> {
    const request = requests.getStore() ?? { holds: 0, unlock: () => {} };
    if (request.holds === 0) {
      const unlock = await this.#lock();
      request.unlock = unlock;
    }
    request.holds++;
    return new LockedSession(this.client, request);
  }

  release({ request }: LockedSession): void {
    request.holds--;
    if (request.holds === 0) request.unlock();
  }

  /** Waits for all earlier calls; resolves with the function that unlocks. */
  async #lock(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}

class LockedSession implements DatabaseConnection {
  constructor(private readonly client: PGlite, readonly request: RequestLock) {}

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, affectedRows } = await this.client.query<R>(query.sql, [...query.parameters]);
    return affectedRows === undefined ? { rows } : { rows, numAffectedRows: BigInt(affectedRows) };
  }

  // deno-lint-ignore require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("Results are not streamed.");
  }
}
