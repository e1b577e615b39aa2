/**
 * PGlite has one session. The dialect that @supabase/lite brings hands that session to everyone at once, so that
 * statements of one request can run inside the transaction, and under the role, of another. Here the session goes
 * from hand to hand: a query or transaction waits until the one before it is finished.
 *
 * Within one request the session may be taken again: a query beside an open transaction of the same request would
 * otherwise wait for itself.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from "kysely";
import type { PGlite } from "@supabase/lite/pglite";

/** How often the session is held by one request, and how it is passed on. */
interface Holder {
  holds: number;
  passOn: () => void;
}

const holders = new AsyncLocalStorage<Holder>();

/** Runs one request; queries made in it share the session once they have it. */
export function asOneRequest<T>(work: () => Promise<T>): Promise<T> {
  return holders.run({ holds: 0, passOn: () => {} }, work);
}

/** A Kysely dialect for the session of `client`. */
export function oneLaneDialect(client: PGlite): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new OneLaneDriver(client),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

class OneLaneDriver implements Driver {
  #last: Promise<void> = Promise.resolve();

  constructor(readonly client: PGlite) {}

  async init(): Promise<void> {}
  async destroy(): Promise<void> {}

  async acquireConnection(): Promise<OneLaneConnection> {
    const holder = holders.getStore() ?? { holds: 0, passOn: () => {} };
    if (holder.holds === 0) {
      const passOn = await this.#turn();
      holder.passOn = passOn;
    }
    holder.holds++;
    return new OneLaneConnection(this.client, holder);
  }

  releaseConnection(connection: OneLaneConnection): Promise<void> {
    connection.holder.holds--;
    if (connection.holder.holds === 0) connection.holder.passOn();
    return Promise.resolve();
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const isolation = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : "";
    const access = settings.accessMode ? ` ${settings.accessMode}` : "";
    await connection.executeQuery(CompiledQuery.raw(`start transaction${isolation}${access}`));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("commit"));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("rollback"));
  }

  /** Waits for everyone before; resolves with the way to let the next one go. */
  async #turn(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}

class OneLaneConnection implements DatabaseConnection {
  constructor(readonly client: PGlite, readonly holder: Holder) {}

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, affectedRows } = await this.client.query<R>(query.sql, [...query.parameters]);
    return affectedRows === undefined ? { rows } : { rows, numAffectedRows: BigInt(affectedRows) };
  }

  // deno-lint-ignore require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("PGlite does not stream results.");
  }
}
