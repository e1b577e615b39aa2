/** A Kysely dialect for Postgres, over sessions that each belong to one query or transaction at a time. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type TransactionSettings,
} from "kysely";

export interface SessionPool<Session extends DatabaseConnection> {
  /** Waits while no session is free. */
  acquire(): Promise<Session>;
  release(session: Session): void;
}

export function postgresDialect<Session extends DatabaseConnection>(pool: SessionPool<Session>): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PoolDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

class PoolDriver<Session extends DatabaseConnection> implements Driver {
  constructor(private readonly pool: SessionPool<Session>) {}

  async init(): Promise<void> {}
  async destroy(): Promise<void> {}

  acquireConnection(): Promise<Session> {
    return this.pool.acquire();
  }

  releaseConnection(session: Session): Promise<void> {
    this.pool.release(session);
    return Promise.resolve();
  }

  async beginTransaction(session: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const isolation = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : "";
    const access = settings.accessMode ? ` ${settings.accessMode}` : "";
    await session.executeQuery(CompiledQuery.raw(`start transaction${isolation}${access}`));
  }

  async commitTransaction(session: DatabaseConnection): Promise<void> {
    await session.executeQuery(CompiledQuery.raw("commit"));
  }

  async rollbackTransaction(session: DatabaseConnection): Promise<void> {
    await session.executeQuery(CompiledQuery.raw("rollback"));
  }
}
