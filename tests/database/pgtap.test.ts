/** The pgTAP files of `supabase/tests`, on a hosted-like Postgres and on PGlite under @supabase/lite. */
import { btree_gin } from "@electric-sql/pglite/contrib/btree_gin";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { pgtap } from "@electric-sql/pglite/pgtap";
import { vector } from "@electric-sql/pglite/vector";
import { PGlite } from "@electric-sql/pglite";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { startBackend } from "../../supabase/local/stack/backend.ts";
import { MIGRATIONS_DIRECTORY } from "../../supabase/local/repository.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import { assertTap, installPgtap, PGTAP_SESSION } from "../support/postgres/postgres_pgtap.ts";

const DIRECTORY = fileURLToPath(new URL("../../supabase/tests", import.meta.url));
const FILES = [...Deno.readDirSync(DIRECTORY)].map((entry) => entry.name).filter((name) =>
  name.endsWith(".sql")
)
  .sort();

Deno.test("pgTAP on a hosted-like Postgres, as the role that applies migrations", async (t) => {
  const server = await startPostgres();
  try {
    await installPgtap(server);
    const database = await createMigrated(server, "pgtap");
    for (const file of FILES) {
      await t.step(file, async () => {
        const sql = connect(database.url, 1);
        try {
          await sql.unsafe(PGTAP_SESSION).simple();
          const results = await sql.unsafe(await Deno.readTextFile(join(DIRECTORY, file))).simple();
          assertTap(results.flat().flatMap((row) => linesOf(Object.values(row))));
        } finally {
          await sql.end();
        }
      });
    }
  } finally {
    await server.stop();
  }
});

Deno.test("pgTAP on PGlite, as the local stack sets it up", async (t) => {
  const folder = await Deno.makeTempDir();
  const database = await openMigratedPglite(folder);
  try {
    for (const file of FILES) {
      await t.step(file, async () => {
        await database.exec(PGTAP_SESSION);
        const results = await database.exec(await Deno.readTextFile(join(DIRECTORY, file)));
        assertTap(results.flatMap((result) => result.rows.flatMap((row) => linesOf(Object.values(row)))));
      });
    }
  } finally {
    await database.close();
    await Deno.remove(folder, { recursive: true });
  }
});

/** What the local stack makes of an empty folder, opened again without the stack. */
async function openMigratedPglite(folder: string): Promise<PGlite> {
  const databaseDirectory = join(folder, "pglite");
  const backend = await startBackend({
    secrets: await loadSecrets(join(folder, "secrets.json")),
    databaseDirectory,
    databaseUrl: undefined,
    storageDirectory: join(folder, "storage"),
    migrationsDirectory: MIGRATIONS_DIRECTORY,
    onProgress: () => {},
  });
  await backend.close();
  const { exitCode } = Deno;
  try {
    return await PGlite.create(databaseDirectory, { extensions: { pgtap, vector, pg_trgm, btree_gin } });
  } finally {
    // As it opens, PGlite sets this process's exit code.
    Deno.exitCode = exitCode;
  }
}

/** pgTAP answers text, in one column, sometimes several lines at once; other rows are not TAP. */
function linesOf(columns: readonly unknown[]): string[] {
  const [text] = columns;
  if (columns.length !== 1 || typeof text !== "string") return [];
  return text.split("\n").filter((line) => /^(1\.\.|ok |not ok |#)/.test(line));
}
