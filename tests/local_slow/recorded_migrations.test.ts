/** A data folder of another version of the schema is refused and left unchanged. */
import { assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { startStack } from "../../supabase/local/stack/stack.ts";
import { StartupError } from "../../supabase/local/startup_error.ts";
import { runCommand } from "../support/stack/command.ts";
import { freshDataDirectory } from "../support/stack/fresh_data_directory.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { createHostedLike, withConnection } from "../support/postgres/postgres_hosted.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";

/** Other contents of a folder's record of migrations than this version's; the last one is none. */
const RECORDS = [
  `{"versions":["20261120000000","20261120000100"]}`,
  `{"versions":["20261122000000","29990101000000"]}`,
  "{",
  undefined,
];

Deno.test("a data folder of an earlier or later version, or with a damaged record or none, is refused and not touched", async () => {
  const data = await freshDataDirectory();
  const file = join(data, "migrations.json");
  const refusal =
    `The data folder ${data} was made by another version of this service, which this version cannot read; ` +
    "move it away or delete it, or choose another with --data.";
  try {
    for (const record of RECORDS) {
      if (record === undefined) await Deno.remove(file);
      else await Deno.writeTextFile(file, record);
      const before = await contents(data);
      const error = await assertRejects(() => startStack({ dataDir: data, port: 0 }), StartupError);
      assertEquals(error.message, refusal);
      assertEquals(await contents(data), before, record);
    }
    const before = await contents(data);
    const { code, stdout, stderr } = await runCommand("start.ts", "--port", "0", "--data", data);
    assertEquals([code, stdout, stderr], [1, "", `Error: ${refusal}\n`]);
    assertEquals(await contents(data), before);
  } finally {
    await Deno.remove(data, { recursive: true });
  }
});

Deno.test("a data folder of this version is opened again, and one whose first start broke off", () =>
  withScratchDirectory(async (dataDir) => {
    // The files left by a start that is killed before it has created the database.
    await Deno.writeTextFile(join(dataDir, "migrations.json"), `{"versions":["20261122000000"]}`);
    for (let start = 0; start < 2; start++) {
      const stack = await startStack({ dataDir, port: 0, demo: false });
      await stack.stop();
    }
  }));

Deno.test("a Postgres with another version's file store is refused, and its tables stay as they are", () =>
  withScratchDirectory(async (dataDir) => {
    const server = await startPostgres();
    try {
      const { superuserUrl } = await createHostedLike(server, "other");
      await withConnection(superuserUrl, async (sql) => {
        await sql`create schema filestore`;
        await sql`create table filestore.files as select 1 as one`;
      });
      await assertRejects(
        () => startStack({ dataDir, port: 0, demo: false, databaseUrl: superuserUrl }),
        StartupError,
        "The database holds files of another version of this service, which this version cannot read; use an empty database.",
      );
      await withConnection(superuserUrl, async (sql) => {
        const tables = await sql`select relname from pg_class where relnamespace = 'filestore'::regnamespace`;
        assertEquals(tables.map((row) => row.relname), ["files"]);
      });
    } finally {
      await server.stop();
    }
  }));

/** Maps each path in a folder to the time of its last change, its size and its digest. */
async function contents(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isFile } of Deno.readDir(directory)) {
    const path = join(directory, name);
    const { mtime, size } = await Deno.stat(path);
    const bytes = isFile ? await Deno.readFile(path) : new Uint8Array();
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    found[path] = [mtime?.getTime(), size, digest].join(" ");
    if (!isFile) Object.assign(found, await contents(path));
  }
  return found;
}
