/**
 * Connections to a Postgres server, each lent to one holder at a time. The dialect of @supabase/lite reserves
 * connections of postgres.js, and a reserved connection does not survive a crash of the server: its holder may continue
 * inside the transaction of the next holder, or the connection is never lent again. Here a lost connection is dropped,
 * the statement or transaction on it fails, and the next holder gets a new connection.
 */
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type postgres from "postgres";
import type { SessionPool } from "./postgres_dialect.ts";

/** Opens a client of one connection; it calls `onLost` when the connection ends for any reason. */
export type OpenClient = (onLost: () => void) => postgres.Sql;

export class PostgresPool implements SessionPool<PooledConnection> {
  readonly #idle: PooledConnection[] = [];
  readonly #waiting: ((connection: PooledConnection) => void)[] = [];
  readonly #all = new Set<PooledConnection>();

  constructor(private readonly open: OpenClient, private readonly connectionsMax: number) {}

  /** Waits while all connections are lent. */
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
    connection.client.end({ timeout: 0 }).catch(() => {/* the connection has ended already */});
  }
}

class PooledConnection implements DatabaseConnection {
  isLost = false;
  readonly client: postgres.Sql;

  constructor(open: OpenClient) {
    this.client = open(() => this.isLost = true);
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    // The client would reconnect by itself, outside of the transaction and under another role.
    if (this.isLost) throw Object.assign(new Error("The connection is lost."), { code: "CONNECTION_CLOSED" });
    try {
      // postgres.js checks the type of a parameter when it serialises it.
      const result = await this.client.unsafe<R[]>(sql, parameters as postgres.ParameterOrJSON<never>[]);
      const rows = [...result];
      const isChange = ["INSERT", "UPDATE", "DELETE", "MERGE"].includes(result.command);
      return isChange ? { rows, numAffectedRows: BigInt(result.count) } : { rows };
    } catch (error) {
      // The server did not return this error, and its response to an earlier statement may still arrive.
      if (!(error instanceof Error && error.name === "PostgresError")) this.isLost = true;
      throw error;
    }
  }

  // deno-lint-ignore require-yield
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("Results are not streamed.");
  }
}
