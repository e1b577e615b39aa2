/** The database under the stack: PGlite in this process, or any Postgres with --db. */
import type { App } from "@supabase/lite";

export interface Database {
  readonly connection: App["connection"];
  /** Runs one statement and answers its rows. */
  query<Row>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Runs a script of several statements and then `record`, in one transaction. */
  script(
    sql: string,
    record?: { readonly sql: string; readonly parameters: readonly string[] },
  ): Promise<void>;
  close(): Promise<void>;
}
