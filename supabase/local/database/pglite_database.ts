/** Postgres inside this process, with its files in the data folder. */
import { btree_gin } from "@electric-sql/pglite/contrib/btree_gin";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { pgtap } from "@electric-sql/pglite/pgtap";
import { vector } from "@electric-sql/pglite/vector";
import { createPgliteConnection } from "@supabase/lite/pglite";
import { Kysely } from "kysely";
import { type Database, rowQuery } from "./database.ts";
import { PgliteSession } from "./pglite_session.ts";
import { postgresDialect } from "./postgres_dialect.ts";
import { messageOf, StartupError } from "../startup_error.ts";

/** Opens the database in `directory` and creates it if it does not exist. Throws `StartupError`. */
export async function openPglite(directory: string, joinsSettings = false): Promise<Database> {
  const exitCode = Deno.exitCode;
  const connection = await createPgliteConnection({
    url: directory,
    pgliteOptions: { extensions: { vector, pg_trgm, btree_gin, pgtap } },
  });
  const client = connection.driver;
  connection.kysely = new Kysely({ dialect: postgresDialect(new PgliteSession(client), joinsSettings) });
  try {
    await client.waitReady;
    // PGlite runs initdb as a program; its exit code would become the exit code of this process.
    Deno.exitCode = exitCode;
  } catch (error) {
    throw new StartupError(`The database in ${directory} cannot be opened (${messageOf(error)}).`);
  }
  return {
    connection,
    query: rowQuery(connection),
    async script(sql, record) {
      await connection.kysely.connection().execute(() =>
        client.transaction(async (transaction) => {
          await transaction.exec(sql);
          if (record) await transaction.query(record.sql, [...record.parameters]);
        })
      );
    },
    close: () => connection.close(),
  };
}
