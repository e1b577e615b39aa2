/**
 * What a plan of an undo or a restore reads is bounded, whatever the project holds: Postgres tells the rows that were
 * really read. Plans that are kept are the same as those of the first call.
 */
import { assert, assertEquals } from "@std/assert";
import { COMMIT_FILES_MAX } from "../../supabase/functions/api/limits.ts";
import { connectNotingPlans, explainEverything, rowsRead } from "../support/postgres/plans.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { createMigrated } from "../support/postgres/postgres_hosted.ts";
import { type Answer, type Json, makeProject, type Project } from "../support/postgres/postgres_filestore.ts";

/** Files `d/f…` that each got one version in 2025, and all others in 2026. */
interface Filled {
  readonly files: number;
  readonly versions: number;
  readonly segments?: number;
  /** Whether the last version is equal to the first. */
  readonly isBack?: boolean;
}

const server = await startPostgres();
const database = await createMigrated(server, "undo_plans");
const { sql, plans } = connectNotingPlans(database.superuserUrl);
const tables = ["files", "file_versions", "segments"];

async function fill(
  name: string,
  { files, versions, segments = 1, isBack = false }: Filled,
): Promise<Project> {
  const project = await makeProject(sql, name);
  await sql.begin((transaction) =>
    transaction.unsafe(`
      set local session_replication_role = replica;
      create temp table made on commit drop as
        select gen_random_uuid() as id, 'd/f' || lpad(n::text, 7, '0') as path, '2026-01-01'::timestamptz as at,
          array(select gen_random_uuid() from generate_series(1, ${segments}) where n > 0) as segment_ids
        from generate_series(1, ${files}) n;
      insert into filestore.files (
          id, project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
        select id, '${project.id}', path, ${versions}, 'text/plain', ${segments}, segment_ids, '2025-01-01', at
        from made;
      insert into filestore.file_versions (
          project_id, file_id, version, mime_type, size, segment_ids, commit_id, created_at)
        select '${project.id}', id, v, case when v = 1 and not ${isBack} then 'text/csv' else 'text/plain' end,
          ${segments}, segment_ids, gen_random_uuid(), case when v = 1 then '2025-01-01' else at end
        from made cross join generate_series(1, ${versions}) v order by v`).simple()
  );
  await sql`analyze filestore.files, filestore.file_versions, filestore.segments`;
  return project;
}

async function plan(project: Project, kind: string, commit: Json): Promise<Answer> {
  const body = JSON.stringify({ dryRun: true, onConflict: "refuse", ...commit });
  const [row] = await sql<{ answer: Answer }[]>`
    select public.filestore_plan(${project.keyHash}, null, ${kind}, ${body}::text::jsonb) as answer`;
  if (row === undefined) throw new Error("no answer");
  return row.answer;
}

/** As often as makes Postgres keep its plans. */
async function readBy(
  what: () => Promise<Answer>,
): Promise<{ answer: Answer; rows: Record<string, number> }> {
  for (let time = 0; time < 6; time++) await what();
  plans.length = 0;
  const answer = await what();
  return { answer, rows: rowsRead(plans, tables) };
}

function assertAtMost(rows: Readonly<Record<string, number>>, most: Readonly<Record<string, number>>): void {
  for (const [table, count] of Object.entries(rows)) {
    assert(count <= (most[table] ?? 0), `${count} rows of ${table} were read, not ${most[table] ?? 0}`);
  }
}

const TOO_MANY = {
  code: "TOO_MANY_FILES",
  details: { files: COMMIT_FILES_MAX + 1, limit: COMMIT_FILES_MAX },
};

Deno.test("what plans read", async (t) => {
  const before2026 = { directory: "d", at: "2025-06-01T00:00:00.000Z" };
  const changed = await fill("changed", { files: 3000, versions: 2 });
  const back = await fill("back", { files: 1500, versions: 3, isBack: true });
  const long = await fill("long", { files: 200, versions: 3, segments: 101, isBack: true });
  await explainEverything(sql);
  try {
    await t.step("a restore ends at the 1,001st action, with no further look", async () => {
      const { answer, rows } = await readBy(() => plan(changed, "restore_folder", before2026));
      assertEquals(answer.refusal, TOO_MANY);
      assertAtMost(rows, { files: 3000 + COMMIT_FILES_MAX + 1, file_versions: 3 * (COMMIT_FILES_MAX + 1) });
    });
    for (const [name, project, files] of [["short lists", back, 1500], ["long lists", long, 200]] as const) {
      await t.step(`a restore looks at each file once where nothing is to be done: ${name}`, async () => {
        const { answer, rows } = await readBy(() => plan(project, "restore_folder", before2026));
        assertEquals([answer.value?.["actions"], unchanged(answer)], [[], files]);
        assertAtMost(rows, { files: 2 * files, file_versions: 4 * files });
      });
    }
  } finally {
    await sql.end();
    await server.stop();
  }
});

function unchanged({ value }: Answer): number {
  const paths = value?.["unchanged"];
  return Array.isArray(paths) ? paths.length : 0;
}
