/**
 * Connections to a Postgres server, each given to one holder at a time. The dialect that @supabase/lite brings reserves
 * connections of postgres.js, and such a one does not survive the server's death: whoever held it may go on in a
 * transaction of the next holder, or nobody gets it any more. Here a connection that is lost is lost for good, and
 * with it what was under way; the next holder gets a new one.
 */
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
import type postgres from "postgres";

/** Opens a client of one connection; `onLost` is called when that ends, for whatever reason. */
export type OpenClient = (onLost: () => void) => postgres.Sql;

export class PostgresPool {
  readonly dialect: Dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new PoolDriver(this),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
  readonly #idle: PooledConnection[] = [];
  readonly #waiting: ((connection: PooledConnection) => void)[] = [];
  readonly #all = new Set<PooledConnection>();

  constructor(private readonly open: OpenClient, private readonly connectionsMax: number) {}

  /** Waits for its turn where all connections are held. */
  async acquire(): Promise<PooledConnection> {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      if (!idle.isLost) return idle;
      this.#drop(idle);
    }
    if (this.#all.size < this.connectionsMax) return this.#add();
    return await new Promise((resolve) => this.#waiting.push(resolve));
  }

  release(connection: PooledConnection): void {
    if (connection.isLost) this.#drop(connection);
    const next = this.#waiting.shift();
    if (next) next(connection.isLost ? this.#add() : connection);
    else if (!connection.isLost) this.#idle.push(connection);
  }

  async close(timeoutSeconds: number): Promise<void> {
    await Promise.all([...this.#all].map(({ client }) => client.end({ timeout: timeoutSeconds })));
  }

  #add(): PooledConnection {
    const connection = new PooledConnection(this.open);
    this.#all.add(connection);
    return connection;
  }

  #drop(connection: PooledConnection): void {
    this.#all.delete(connection);
    connection.client.end({ timeout: 0 }).catch(() => {/* it is gone */});
  }
}

class PooledConnection implements DatabaseConnection {
  isLost = false;
  readonly client: postgres.Sql;

  constructor(open: OpenClient) {
    this.client = open(() => this.isLost = true);
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    // The client would connect anew by itself, outside of the transaction and under another role.
    if (this.isLost) throw Object.assign(new Error("The connection is lost."), { code: "CONNECTION_CLOSED" });
    try {
      // What a parameter may be, postgres.js decides when it serialises it.
      const result = await this.client.unsafe<R[]>(sql, parameters as postgres.ParameterOrJSON<never>[]);
      const rows = [...result];
      const isChange = ["INSERT", "UPDATE", "DELETE", "MERGE"].includes(result.command);
      return isChange ? { rows, numAffectedRows: BigInt(result.count) } : { rows };
    } catch (error) {
      // Anything but the server's own no: it may still answer an earlier statement.
      if (!(error instanceof Error && error.name === "PostgresError")) this.isLost = true;
      throw error;
    }
  }

  // deno-lint-ignore require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("Results are not streamed.");
  }
}

class PoolDriver implements Driver {
  constructor(private readonly pool: PostgresPool) {}

  async init(): Promise<void> {}
  async destroy(): Promise<void> {}

  acquireConnection(): Promise<PooledConnection> {
    return this.pool.acquire();
  }

  releaseConnection(connection: PooledConnection): Promise<void> {
    this.pool.release(connection);
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
}
