/** Runs the pgTAP files of `supabase/tests` on a Postgres that resembles a hosted one. */
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  assertTap,
  installPgtap,
  PGTAP_FILES,
  PGTAP_SESSION,
  readPgtap,
  tapLines,
} from "../support/postgres/postgres_pgtap.ts";

Deno.test("pgTAP on a hosted-like Postgres, as the role that applies migrations", async (t) => {
  const server = await startPostgres();
  try {
    await installPgtap(server);
    const database = await createMigrated(server, "pgtap");
    for (const file of PGTAP_FILES) {
      await t.step(file, async () => {
        const sql = connect(database.url, 1);
        try {
          await sql.unsafe(PGTAP_SESSION).simple();
          const results = await sql.unsafe(await readPgtap(file)).simple();
          assertTap(results.flat().flatMap((row) => tapLines(Object.values(row))));
        } finally {
          await sql.end();
        }
      });
    }
  } finally {
    await server.stop();
  }
});
