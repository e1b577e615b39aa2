/** The pgTAP files of `supabase/tests`, on PGlite under @supabase/lite. */
import { btree_gin } from "@electric-sql/pglite/contrib/btree_gin";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { pgtap } from "@electric-sql/pglite/pgtap";
import { vector } from "@electric-sql/pglite/vector";
import { PGlite } from "@electric-sql/pglite";
import { join } from "node:path";
import { startBackend } from "../../supabase/local/stack/backend.ts";
import { MIGRATIONS_DIRECTORY } from "../../supabase/local/repository.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import {
  assertTap,
  PGTAP_FILES,
  PGTAP_SESSION,
  readPgtap,
  tapLines,
} from "../support/postgres/postgres_pgtap.ts";

Deno.test("pgTAP on PGlite, as the local stack sets it up", async (t) => {
  const folder = await Deno.makeTempDir();
  const database = await openMigratedPglite(folder);
  try {
    for (const file of PGTAP_FILES) {
      await t.step(file, async () => {
        await database.exec(PGTAP_SESSION);
        const results = await database.exec(await readPgtap(file));
        assertTap(results.flatMap((result) => result.rows.flatMap((row) => tapLines(Object.values(row)))));
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
