/** The database of a test file's service, if it is not PGlite. */
import { startPostgres } from "../postgres/postgres.ts";
import { withConnection } from "../postgres/postgres_hosted.ts";

/** A migrated database, which is copied for each service. */
export const MIGRATED_DATABASE = "migrated";

export interface TestDatabase {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * If TEST_DATABASE is "postgres", creates a database on the server that TEST_POSTGRES_URL names, or starts a server if it
 * names none. Otherwise returns undefined.
 */
export async function ownDatabase(): Promise<TestDatabase | undefined> {
  if (Deno.env.get("TEST_DATABASE") !== "postgres") return undefined;
  const serverUrl = Deno.env.get("TEST_POSTGRES_URL");
  if (serverUrl === undefined) return await startPostgres();
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  return { url: await createDatabase(serverUrl, name, MIGRATED_DATABASE), stop: () => Promise.resolve() };
}

/** Returns the new database's URL. */
export async function createDatabase(serverUrl: string, name: string, template: string): Promise<string> {
  await withConnection(serverUrl, (sql) => sql`create database ${sql(name)} template ${sql(template)}`);
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}
