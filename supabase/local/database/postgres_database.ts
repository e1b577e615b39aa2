/** A Postgres server given with --db. */
import { createPostgresConnection } from "@supabase/lite/postgres";
import { CompiledQuery, Kysely } from "kysely";
// The driver that lite asks for as a peer: without an import it would not be installed.
import type postgres from "postgres";
import "postgres";
import type { Database } from "./database.ts";
import {
  DATABASE_CONNECT_TIMEOUT_SECONDS,
  DATABASE_CONNECTIONS_MAX,
  DATABASE_RECONNECT_PAUSE_SECONDS,
} from "../limits.ts";
import { PostgresPool } from "./postgres_pool.ts";
import { codeOf, messageOf, StartupError } from "../startup_error.ts";

/** Connects, and fails soon and clearly where nothing answers. */
export async function openPostgres(databaseUrl: string): Promise<Database> {
  const connect = (onLost: () => void) =>
    createPostgresConnection({
      url: databaseUrl,
      postgresOptions: {
        max: 1,
        connect_timeout: DATABASE_CONNECT_TIMEOUT_SECONDS,
        // By default the pauses grow to 20 s, and a database that is back is not noticed for as long.
        backoff: () => DATABASE_RECONNECT_PAUSE_SECONDS,
        // It would end between two statements of a transaction, too.
        max_lifetime: null,
        onclose: onLost,
        onnotice: () => {},
        types: { json: jsonType(114), jsonb: jsonType(3802) },
      },
    });
  // Its own client is for scripts; whatever is asked goes over the pool.
  const connection = connect(() => {});
  const client: postgres.Sql = connection.driver;
  const pool = new PostgresPool((onLost) => connect(onLost).driver, DATABASE_CONNECTIONS_MAX);
  connection.kysely = new Kysely({ dialect: pool.dialect });
  try {
    await client.unsafe("select 1");
  } catch (error) {
    await client.end({ timeout: 0 });
    throw new StartupError(
      `The database at ${withoutPassword(databaseUrl)} cannot be reached (${reasonOf(error)}).`,
    );
  }
  return {
    connection,
    async query<Row>(sql: string, parameters: readonly unknown[] = []) {
      const { rows } = await connection.kysely.executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]));
      return rows;
    },
    async script(sql, record) {
      await client.begin(async (transaction) => {
        await transaction.unsafe(sql).simple();
        if (record) await transaction.unsafe(record.sql, [...record.parameters]);
      });
    },
    async close() {
      await Promise.all([
        pool.close(DATABASE_CONNECT_TIMEOUT_SECONDS),
        client.end({ timeout: DATABASE_CONNECT_TIMEOUT_SECONDS }),
      ]);
    },
  };
}

/**
 * @supabase/lite hands JSON over as text, and its own type would make a JSON string of that text once more: a jsonb
 * argument of a function would arrive as a string. PGlite takes text as it is; so does this.
 */
function jsonType(oid: number): postgres.PostgresType {
  return {
    to: oid,
    from: [oid],
    serialize: (value: unknown) => typeof value === "string" ? value : JSON.stringify(value),
    parse: (text: string) => JSON.parse(text),
  };
}

function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password = "";
  return url.href;
}

function reasonOf(error: unknown): string {
  return messageOf(error) || codeOf(error) || "no reason given";
}
