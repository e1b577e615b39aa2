/** A Postgres server given with --db. */
import { createPostgresConnection } from "@supabase/lite/postgres";
import { Kysely } from "kysely";
// A peer dependency of @supabase/lite: without an import it would not be installed.
import type postgres from "postgres";
import "postgres";
import { type Database, rowQuery } from "./database.ts";
import {
  DATABASE_CONNECT_TIMEOUT_SECONDS,
  DATABASE_CONNECTIONS_MAX,
  DATABASE_RECONNECT_PAUSE_SECONDS,
} from "../limits.ts";
import { postgresDialect } from "./postgres_dialect.ts";
import { PostgresPool } from "./postgres_pool.ts";
import { codeOf, messageOf, StartupError } from "../startup_error.ts";

/** Codes of a lost connection: of postgres.js, of its socket, and of a server that shuts down. */
const CONNECTION_LOST: readonly (string | undefined)[] = [
  ...["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "CONNECTION_ENDED"],
  ...["ECONNRESET", "EPIPE"],
  ...["57P01", "57P02", "57P03"],
];

/** Connects. Throws `StartupError` after `DATABASE_CONNECT_TIMEOUT_SECONDS` if the server cannot be reached. */
export async function openPostgres(databaseUrl: string, joinsSettings = false): Promise<Database> {
  const connect = (onLost: () => void) =>
    createPostgresConnection({
      url: databaseUrl,
      postgresOptions: {
        max: 1,
        connect_timeout: DATABASE_CONNECT_TIMEOUT_SECONDS,
        // By default the pause grows to 20 s, and a restarted database would be unreachable for as long.
        backoff: () => DATABASE_RECONNECT_PAUSE_SECONDS,
        // By default a connection ends at a certain age, even between two statements of a transaction.
        max_lifetime: null,
        onclose: onLost,
        onnotice: () => {},
        types: { json: jsonType(114), jsonb: jsonType(3802) },
      },
    });
  // This client runs the scripts; queries use the pool.
  const connection = connect(() => {});
  const client: postgres.Sql = connection.driver;
  const pool = new PostgresPool((onLost) => connect(onLost).driver, DATABASE_CONNECTIONS_MAX);
  connection.kysely = new Kysely({ dialect: postgresDialect(pool, joinsSettings) });
  globalThis.addEventListener("unhandledrejection", ignoreLostConnection);
  try {
    await client.unsafe("select 1");
  } catch (error) {
    await client.end({ timeout: 0 });
    globalThis.removeEventListener("unhandledrejection", ignoreLostConnection);
    throw new StartupError(
      `The database at ${withoutPassword(databaseUrl)} cannot be reached (${reasonOf(error)}).`,
    );
  }
  return {
    connection,
    query: rowQuery(connection),
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
      globalThis.removeEventListener("unhandledrejection", ignoreLostConnection);
    },
  };
}

/**
 * postgres.js asks for the types of arrays on each new connection, and nothing awaits the answer. If the connection is
 * lost meanwhile, the query that it was opened for fails, and the next one opens another; the process must not end.
 */
function ignoreLostConnection(event: PromiseRejectionEvent): void {
  if (CONNECTION_LOST.includes(codeOf(event.reason))) event.preventDefault();
}

/**
 * @supabase/lite passes JSON as text, and the default type of postgres.js would serialise that text a second time: a
 * jsonb argument of a function would arrive as a string. Like PGlite, this type passes text unchanged.
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
