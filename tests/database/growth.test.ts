/** How much the database grows by what a request stores in it besides text: never by more than 64 KB for each file. */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { PATH_BYTES_MAX, PATH_SEGMENTS_MAX } from "../../supabase/functions/api/limits.ts";
import { commit, makeProject, type Project, valueOf } from "../support/postgres/postgres_filestore.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";

const GROWTH_BYTES_MAX = 64 * 1024;
const FILES = 40;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const FOLDERS = PATH_SEGMENTS_MAX - 1;
/** Of each name and its slash. */
const NAME_BYTES = PATH_BYTES_MAX / PATH_SEGMENTS_MAX;

/** The longest path with the most names, all of them random, so that nothing of it can be compressed. */
function longestPath(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(PATH_BYTES_MAX));
  const letters = Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length] ?? "");
  for (let folder = 1; folder <= FOLDERS; folder++) letters[folder * NAME_BYTES - 1] = "/";
  return letters.join("");
}

async function bytesOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ bytes: string }[]>`
    select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c
    where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'`;
  return Number(row?.bytes);
}

async function directoriesOf(sql: postgres.Sql, { id }: Project): Promise<number> {
  return (await sql`select from filestore.directories where project_id = ${id}`).length;
}

Deno.test("a file with the longest and deepest path, and a copy, take at most 64 KB of the database", async (t) => {
  const server = await startPostgres();
  const { superuserUrl } = await createMigrated(server, "growth");
  const sql = connect(superuserUrl, 1);
  try {
    const project = await makeProject(sql, "growth");
    valueOf(await commit(sql, project, "write", { path: "source", segments: [] }));
    const paths = Array.from({ length: FILES }, longestPath);
    assertEquals(
      new Set(paths.map((path) => `${path.length} ${path.split("/").length}`)),
      new Set([`${PATH_BYTES_MAX} ${PATH_SEGMENTS_MAX}`]),
    );
    for (
      const [what, write] of Object.entries({
        written: (path: string) => commit(sql, project, "write", { path, segments: [] }),
        copied: (destination: string) =>
          commit(sql, project, "copy", {
            path: "source",
            destination: destination.replace(/^./, "+"),
            segments: [],
          }),
      })
    ) {
      await t.step(what, async () => {
        const before = await bytesOf(sql);
        for (const path of paths) valueOf(await write(path));
        const grown = (await bytesOf(sql) - before) / FILES;
        assert(grown <= GROWTH_BYTES_MAX, `${Math.round(grown)} bytes`);
      });
    }
    await t.step("of the folders nothing is left once the files are deleted", async () => {
      assertEquals(await directoriesOf(sql, project), 1 + 2 * FOLDERS * FILES);
      for (const path of paths.flatMap((path) => [path, path.replace(/^./, "+")])) {
        valueOf(await commit(sql, project, "delete", { path, segments: [] }));
      }
      assertEquals(await directoriesOf(sql, project), 1);
    });
  } finally {
    await sql.end();
    await server.stop();
  }
});
