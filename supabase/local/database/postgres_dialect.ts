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
import { JoinedSettings } from "./joined_settings.ts";

export interface SessionPool<Session extends DatabaseConnection> {
  /** Waits while no session is free. */
  acquire(): Promise<Session>;
  release(session: Session): void;
}

/** `joinsSettings`: the settings of a request go to Postgres in one statement. */
export function postgresDialect<Session extends DatabaseConnection>(
  pool: SessionPool<Session>,
  joinsSettings = false,
): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => joinsSettings ? new PoolDriver(joiningPool(pool)) : new PoolDriver(pool),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

function joiningPool<Session extends DatabaseConnection>(
  pool: SessionPool<Session>,
): SessionPool<JoinedSettings<Session>> {
  return {
    acquire: async () => new JoinedSettings(await pool.acquire()),
    release: ({ session }) => pool.release(session),
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
