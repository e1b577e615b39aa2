/**
 * A plan of an undo or a restore reads a bounded number of rows, however much the project contains. Postgres reports
 * the rows that were read. A cached plan reads the same as that of the first call.
 */
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import {
  COMMIT_FILES_MAX,
  RUN_FILES_MAX,
  RUN_VERSIONS_COUNTED_MAX,
  UNDO_VERSIONS_EXAMINED_MAX,
} from "../../supabase/functions/api/limits.ts";
import { connectNotingPlans, explainEverything, rowsRead } from "../support/postgres/plans.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { createMigrated } from "../support/postgres/postgres_hosted.ts";
import { type Answer, type Json, makeProject, type Project } from "../support/postgres/postgres_filestore.ts";

/** A project with files `…/f…`. Each got one version in 2025, and all others in 2026, in the run `r`. */
interface Filled {
  readonly files: number;
  readonly versions: number;
  readonly segments?: number;
  /** Whether the last version is equal to the first. */
  readonly isBack?: boolean;
  /** The key of the versions of 2026; by default not the caller's. */
  readonly keyId?: string;
}

const server = await startPostgres();
const database = await createMigrated(server, "undo_plans");
const { sql, plans } = connectNotingPlans(database.superuserUrl);
const tables = ["files", "file_versions", "segments"];

async function fill(directory: string, project: Project, filled: Filled): Promise<Project> {
  const { files, versions, segments = 1, isBack = false, keyId = crypto.randomUUID() } = filled;
  await sql.begin((transaction) =>
    transaction.unsafe(`
      set local session_replication_role = replica;
      create temp table made on commit drop as
        select gen_random_uuid() as id, '${directory}/f' || lpad(n::text, 7, '0') as path, '2026-01-01'::timestamptz as at,
          array(select gen_random_uuid() from generate_series(1, ${segments}) where n > 0) as segment_ids
        from generate_series(1, ${files}) n;
      insert into filestore.files (
          id, project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
        select id, '${project.id}', path, ${versions}, 'text/plain', ${segments}, segment_ids, '2025-01-01', at
        from made;
      insert into filestore.file_versions (
          project_id, file_id, version, mime_type, size, segment_ids, commit_id, run_id, key_id, created_at)
        select '${project.id}', id, v, case when v = 1 and not ${isBack} then 'text/csv' else 'text/plain' end,
          ${segments}, segment_ids, gen_random_uuid(), case when v > 1 then 'r' end, '${keyId}',
          case when v = 1 then '2025-01-01' else at end
        from made cross join generate_series(1, ${versions}) v order by v;
      insert into filestore.runs (project_id, run_id, first_position) values ('${project.id}', 'r', 1)
        on conflict do nothing`).simple()
  );
  await sql`analyze filestore.files, filestore.file_versions, filestore.segments`;
  return project;
}

async function run(project: Project): Promise<Answer> {
  const [row] = await sql<{ answer: Answer }[]>`
    select public.filestore_run(${project.keyHash}, null, 'r', ${RUN_FILES_MAX}, null) as answer`;
  if (row === undefined) throw new Error("no answer");
  return row.answer;
}

async function plan(project: Project, kind: string, commit: Json): Promise<Answer> {
  const body = JSON.stringify({ dryRun: true, onConflict: "refuse", ...commit });
  const [row] = await sql<{ answer: Answer }[]>`
    select public.filestore_plan(${project.keyHash}, null, ${kind}, ${body}::text::jsonb) as answer`;
  if (row === undefined) throw new Error("no answer");
  return row.answer;
}

/** Repeated until Postgres caches its plans. */
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

const examined = z.object({
  actions: z.array(z.unknown()),
  conflicts: z.array(z.object({ reason: z.string() })),
});
const toldRun = z.object({
  versionCount: z.int(),
  countsAreExact: z.boolean(),
  files: z.array(z.unknown()),
});

const TOO_MANY = {
  code: "TOO_MANY_FILES",
  details: { files: COMMIT_FILES_MAX + 1, limit: COMMIT_FILES_MAX },
};

Deno.test("what plans read", async (t) => {
  const before2026 = { directory: "d", at: "2025-06-01T00:00:00.000Z" };
  const keyId = crypto.randomUUID();
  const made = async (name: string, filled: Filled) => fill("d", await makeProject(sql, name), filled);
  const changed = await made("changed", { files: 3000, versions: 2 });
  const back = await made("back", { files: 1500, versions: 3, isBack: true });
  const long = await made("long", { files: 200, versions: 3, segments: 101, isBack: true });
  const wide = await fill("d", await makeProject(sql, "wide", { keyId }), { files: 3000, versions: 11 });
  await fill("own", wide, { files: 1, versions: 2, keyId });
  const deep = await made("deep", { files: 100, versions: 301 });
  const undone = await made("undone", { files: 5000, versions: 2 });
  await fill("own", undone, { files: 1, versions: 2, keyId });
  await sql`
    update filestore.file_versions set run_id = 'undo', undone_run_id = 'r'
    where project_id = ${undone.id} and version = 2 and key_id <> ${keyId}`;
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
    const atMost = (files: number, file_versions: number) => ({ files, file_versions });
    await t.step("the undo of a run of 30,000 versions of 3,000 files ends at the 1,001st file", async () => {
      const { answer, rows } = await readBy(() => plan(wide, "undo", { run: "r" }));
      assertEquals(answer.refusal, TOO_MANY);
      assertAtMost(rows, atMost(COMMIT_FILES_MAX + 2, 2 * (COMMIT_FILES_MAX + 2) + 4));
    });
    await t.step("the undo of what one key did reads nothing of what others claim for the run", async () => {
      for (const keys of ["own", [keyId]]) {
        const { answer, rows } = await readBy(() => plan(wide, "undo", { run: "r", keys }));
        assertEquals(answer.value?.["actions"], [
          { path: "own/f0000001", action: "restore", from: 2, to: 1, own: true },
        ]);
        assertAtMost(rows, atMost(4, 8));
      }
    });
    await t.step("named files of a run are found without the others", async () => {
      const { answer, rows } = await readBy(() =>
        plan(wide, "undo", { run: "r", paths: ["own/f0000001", "nowhere"] })
      );
      assertEquals(answer.refusal, undefined);
      assertAtMost(rows, atMost(4, 14));
    });
    await t.step("an undo reads one version of each run that undid the run, whatever its files", async () => {
      const { answer, rows } = await readBy(() => plan(undone, "undo", { run: "r" }));
      assertEquals(answer.value?.["actions"], [
        { path: "own/f0000001", action: "restore", from: 2, to: 1, own: false },
      ]);
      assertAtMost(rows, atMost(4, 14));
    });
    await t.step(
      "the undo of a run of 30,000 versions of 100 files looks at no more than it may",
      async () => {
        const { answer, rows } = await readBy(() => plan(deep, "undo", { run: "r" }));
        assertAtMost(rows, atMost(2 * 100, UNDO_VERSIONS_EXAMINED_MAX + 5 * 100));
        const { actions, conflicts } = examined.parse(answer.value);
        const looked = Math.floor(UNDO_VERSIONS_EXAMINED_MAX / 299);
        assertEquals([actions.length, conflicts.length], [looked, 100 - looked]);
        assertEquals([...new Set(conflicts.map(({ reason }) => reason))], ["unexamined"]);
      },
    );
    for (
      const [name, project, files, most] of [["3,000", wide, 1000, 8000], ["100", deep, 100, 700]] as const
    ) {
      await t.step(
        `a run of 30,000 versions of ${name} files is told without a look at all of them`,
        async () => {
          const { answer, rows } = await readBy(() => run(project));
          assertAtMost(rows, atMost(3 * 1001, 2 * (RUN_VERSIONS_COUNTED_MAX + 1) + most));
          const told = toldRun.parse(answer.value);
          assertEquals([told.versionCount, told.countsAreExact, told.files.length], [
            RUN_VERSIONS_COUNTED_MAX,
            false,
            files,
          ]);
        },
      );
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
