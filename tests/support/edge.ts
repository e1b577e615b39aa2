/**
 * The HTTP suite once more as deployed: on a real Postgres, with the function on the Deno of Supabase's edge runtime.
 * One server for all test files, and a database for each. Takes what `deno test` takes; without a file, all of
 * tests/http.
 */
import { fileURLToPath } from "node:url";
import { startStack } from "../../supabase/local/stack/stack.ts";
import { freshDataDirectory } from "./fresh_data_directory.ts";
import { startPostgres } from "./postgres.ts";
import { createDatabase, MIGRATED_DATABASE } from "./test_database.ts";

const EDGE_RUNTIME_DENO = "2.1.4";
const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const server = await startPostgres();
try {
  await migrateOnce(server.url);
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["test", "-A", "--no-check", "--parallel", `--lock=${at("../deno.lock")}`],
      ...(Deno.args.length > 0 ? Deno.args : ["tests/http"]),
    ],
    env: { TEST_DATABASE: "postgres", TEST_POSTGRES_URL: server.url, FUNCTION_DENO: EDGE_RUNTIME_DENO },
  }).spawn().status;
  Deno.exitCode = code;
} finally {
  await server.stop();
}

/** Makes the database that those of the test files are copies of. */
async function migrateOnce(serverUrl: string): Promise<void> {
  const databaseUrl = await createDatabase(serverUrl, MIGRATED_DATABASE, "template1");
  const dataDir = await freshDataDirectory();
  const stack = await startStack({ dataDir, port: 0, demo: false, databaseUrl });
  await stack.stop();
  await Deno.remove(dataDir, { recursive: true });
}
