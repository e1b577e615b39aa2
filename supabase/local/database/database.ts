/** The database of the stack: PGlite in this process, or a Postgres server with --db. */
import type { App } from "@supabase/lite";
import { CompiledQuery } from "kysely";

export interface Database {
  readonly connection: App["connection"];
  /** Runs one statement and returns its rows. */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Runs a script of several statements, then `record`, in one transaction. */
  script(
    sql: string,
    record?: { readonly sql: string; readonly parameters: readonly string[] },
  ): Promise<void>;
  close(): Promise<void>;
}

/** Returns `query` for a database whose statements go through the connection's Kysely. */
export function rowQuery({ kysely }: Database["connection"]): Database["query"] {
  return async <Row>(sql: string, parameters: readonly unknown[] = []) => {
    const { rows } = await kysely.executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]));
    return rows;
  };
}
