/** Runs the pgTAP files of `supabase/tests` on a Postgres that resembles a hosted one, as `supabase test db` does. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type PostgresServer, startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";

/** pgTAP is plain SQL and comes with PGlite. Never called; see `postgres.ts`. */
export const keepInCache = () => import("@electric-sql/pglite/pgtap");
const MODULE = "@electric-sql/pglite/pgtap";

/** The first statements of a session of `supabase test db`. */
const SESSION = `
  create schema if not exists extensions;
  create extension if not exists pgtap with schema extensions;
  set search_path = "$user", public, extensions;`;

const DIRECTORY = new URL("../../supabase/tests/", import.meta.url);

Deno.test("pgTAP on a hosted-like Postgres, as the role that applies migrations", async (t) => {
  const server = await startPostgres();
  try {
    await installPgtap(server);
    const database = await createMigrated(server, "pgtap");
    const files = [...Deno.readDirSync(DIRECTORY)].map(({ name }) => name);
    for (const file of files.filter((name) => name.endsWith(".sql")).sort()) {
      await t.step(file, async () => {
        const sql = connect(database.url, 1);
        try {
          await sql.unsafe(SESSION).simple();
          const results = await sql.unsafe(await Deno.readTextFile(new URL(file, DIRECTORY))).simple();
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

/** Makes `create extension pgtap` work on a server. */
async function installPgtap(server: PostgresServer): Promise<void> {
  const module = createRequire(import.meta.resolve(MODULE)).resolve(MODULE);
  const archive = join(dirname(dirname(module)), "pgtap.tar.gz");
  const { success, stderr } = await new Deno.Command("tar", {
    args: [
      ...["--extract", "--gzip", "--file", archive, "--directory", server.extensionFolder],
      ...["--strip-components=3", "share/postgresql/extension"],
    ],
  }).output();
  if (!success) throw new Error(`pgTAP is not unpacked: ${new TextDecoder().decode(stderr)}`);
}

/** Throws if an assertion failed or the plan does not match. */
function assertTap(lines: readonly string[]): void {
  const plan = Number(/^1\.\.(\d+)$/.exec(lines[0] ?? "")?.[1]);
  const failures = lines.filter((line) => !/^ok \d+/.test(line));
  const held = lines.length - failures.length;
  if (held !== plan) throw new Error(`${held} of ${plan} assertions hold\n${failures.join("\n")}`);
}

/** pgTAP returns text in one column, sometimes several lines at once. Other rows are not TAP. */
function tapLines(columns: readonly unknown[]): string[] {
  const [text] = columns;
  if (columns.length !== 1 || typeof text !== "string") return [];
  return text.split("\n").filter((line) => /^(1\.\.|ok |not ok |#)/.test(line));
}
