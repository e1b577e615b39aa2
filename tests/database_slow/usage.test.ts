/**
 * Usage in the database: commits and reads do not touch its tables, every version counts once however late it commits,
 * and no request is lost if isolates report requests at the same time.
 */
import { assert, assertEquals } from "@std/assert";
import postgres from "postgres";
import { addVersions } from "../bench/populate.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  commit,
  makeProject,
  newSegment,
  type Project,
  valueOf,
} from "../support/postgres/postgres_filestore.ts";
import { sqlNumber } from "../support/postgres/sql_number.ts";

const SLICE_VERSIONS = sqlNumber("61_usage_by_day.sql", "v_left");

type Sql = postgres.Sql | postgres.TransactionSql;

const TODAY = new Date().toISOString().slice(0, 10);

Deno.test("usage in the database", async (t) => {
  const server = await startPostgres();
  const database = await createMigrated(server, "usage");
  const sql = connect(database.superuserUrl, 10);
  try {
    await t.step("neither a commit nor a read touches a table of usage", async () => {
      const project = await makeProject(sql, "untouched", { requestsPerMinute: 1000 });
      const touched = await sql.begin(async (transaction) => {
        await write(transaction, project, "f.txt");
        await transaction`select public.filestore_content(${project.keyHash}, gen_random_uuid(), 'f.txt', p_with_segments => false)`;
        return await transaction<{ name: string }[]>`
          select relname as name from pg_catalog.pg_stat_xact_user_tables
          where schemaname = 'filestore' and seq_scan + idx_scan + n_tup_ins + n_tup_upd + n_tup_del > 0`;
      });
      const names = touched.map(({ name }) => name);
      assert(names.includes("files") && names.includes("rate_windows"));
      assertEquals(names.filter((name) => name.startsWith("usage_")), []);
    });

    await t.step("a version that commits late is counted once, and so are those behind it", async () => {
      const project = await makeProject(sql, "late");
      await write(sql, project, "first.txt");
      const { promise: held, resolve: hold } = Promise.withResolvers<void>();
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const slow = sql.begin(async (transaction) => {
        await write(transaction, project, "slow.txt");
        hold();
        await released;
      });
      await held;
      await write(sql, project, "quick.txt");
      await fold(sql, project);
      assertEquals(await counted(sql, project), 1);
      release();
      await slow;
      await Promise.all(Array.from({ length: 4 }, () => fold(sql, project)));
      await fold(sql, project);
      assertEquals(await counted(sql, project), 3);
    });

    await t.step("many versions are counted in slices, each once", async () => {
      const project = await makeProject(sql, "many");
      await write(sql, project, "log.txt");
      const script = async (text: string) => void await sql.unsafe(text).simple();
      await addVersions({ script }, project, "log.txt", SLICE_VERSIONS + 5);
      const all = SLICE_VERSIONS + 6;
      assertEquals(await fold(sql, project), SLICE_VERSIONS);
      assertEquals(await counted(sql, project), SLICE_VERSIONS);
      assertEquals([await fold(sql, project), await fold(sql, project)], [6, 0]);
      assertEquals(await counted(sql, project), all);
    });

    await t.step(
      "isolates that hand in the same keys at the same time lose nothing and do not deadlock",
      async () => {
        const projects = await Promise.all(
          ["a", "b", "c"].map((name) => makeProject(sql, `handed in ${name}`)),
        );
        const keyIds = Array.from({ length: 50 }, () => crypto.randomUUID());
        const counts = projects.flatMap(({ id }) =>
          keyIds.map((keyId) => ({ projectId: id, keyId, day: TODAY, requests: 3 }))
        );
        const rounds = 20;
        await Promise.all(
          [counts, counts.toReversed(), counts, counts.toReversed()].map(async (order) => {
            for (let n = 0; n < rounds; n++) await handIn(sql, order);
          }),
        );
        const [row] = await sql<{ requests: string; rows: string }[]>`
        select sum(requests) as requests, count(*) as rows from filestore.usage_days
        where project_id = any (${projects.map(({ id }) => id)})`;
        assertEquals([Number(row?.requests), Number(row?.rows)], [
          4 * rounds * counts.length * 3,
          counts.length,
        ]);
      },
    );

    await t.step("what is handed in for a project that is gone, or a day long over, is dropped", async () => {
      const [project, gone] = [await makeProject(sql, "there"), await makeProject(sql, "gone")];
      await sql`update filestore.projects set deleted_at = now() where id = ${gone.id}`;
      const one = { keyId: null, day: TODAY, requests: 1 };
      await handIn(sql, [
        { ...one, projectId: project.id },
        { ...one, projectId: gone.id },
        { ...one, projectId: crypto.randomUUID() },
        { ...one, projectId: project.id, day: "2020-01-01" },
      ]);
      const rows = await sql<{ project: string; day: string }[]>`
        select project_id as project, day::text from filestore.usage_days where requests = 1`;
      assertEquals([...rows], [{ project: project.id, day: TODAY }]);
    });
  } finally {
    await sql.end();
    await server.stop();
  }
});

async function write(sql: Sql, project: Project, path: string): Promise<void> {
  valueOf(await commit(sql, project, "write", { path, segments: [newSegment(project)] }));
}

async function fold(sql: Sql, project: Project): Promise<number> {
  const [row] = await sql<{ versions: number }[]>`
    select filestore.fold_usage(${project.id}, ${SLICE_VERSIONS}) as versions`;
  return row?.versions ?? 0;
}

async function counted(sql: Sql, project: Project): Promise<number> {
  const [row] = await sql<{ versions: string }[]>`
    select coalesce(sum(versions), 0) as versions from filestore.usage_days where project_id = ${project.id}`;
  return Number(row?.versions);
}

async function handIn(sql: Sql, counts: readonly unknown[]): Promise<void> {
  await sql`select public.filestore_count_usage(${JSON.stringify(counts)}::text::jsonb)`;
}
