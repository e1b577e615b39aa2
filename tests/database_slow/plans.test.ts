/**
 * The operations find their rows by index, and read hardly more rows than they return: in a project of many files (with
 * TEST_SCALE=1, a million) and, with TEST_LONG=1, in one of 1,000 projects with 10,000,000 files together. Times depend
 * on the machine, plans do not. Postgres reports the plan of every statement that the functions run, with the number of
 * rows read.
 */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { LIST_AT_EXAMINED_MAX, LIST_TOTAL_MAX } from "../../supabase/functions/api/limits.ts";
import { addVersions, pathIn, populate, SOME_DIRECTORY } from "../bench/populate.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { median } from "../bench/measure.ts";
import { connectNotingPlans, explainEverything, indexesUsed, rowsRead } from "../support/postgres/plans.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  type Answer,
  commit,
  content,
  type Json,
  list,
  makeProject,
  newSegment,
  type Project,
  record,
  valueOf,
  versions,
} from "../support/postgres/postgres_filestore.ts";

const IS_AT_SCALE = Deno.env.get("TEST_SCALE") === "1";
/** Number of projects, all with the same number of files. */
const PROJECTS = IS_LONG ? 1000 : 1;
const FILES = IS_AT_SCALE ? 1_000_000 : IS_LONG ? 10_000 : 100_000;
const VERSIONS = IS_AT_SCALE ? 100_000 : 10_000;
/** A version of the long history that is certainly not in the future; each is dated a millisecond after the one before. */
const MANY = 20;
const SEGMENTS = 50_000;
const FILES_PER_DIRECTORY = IS_AT_SCALE ? 1000 : 100;
const LONG_PATH = "top-1/sub-00001/file-0001000.txt";
const MIDDLE = pathIn(FILES_PER_DIRECTORY, FILES / 2 + 5.5 * FILES_PER_DIRECTORY);
/** In the middle of the subtree `top-3`. */
const MIDDLE_OF_TOP_3 = pathIn(FILES_PER_DIRECTORY, FILES / 2 + 3.5 * FILES_PER_DIRECTORY);
const PAGE = 100;
/** Number of files in a large folder. */
const FOLDER_FILES = 100_000;
/** Rows of a large table that a page of PAGE entries may read: one more than it shows, and those with equal sort values. */
const ROWS_PER_PAGE_MAX = 2 * PAGE;
/** Rows of each large table that an operation on one file may read. */
const ROWS_PER_FILE_MAX = 10;

/** Tables that grow with a project. */
const LARGE_TABLES = ["files", "file_versions", "segments"];

const LISTS: Readonly<Record<string, Json>> = {
  "from the root": {},
  "from the root, last first": { sortOrder: "desc" },
  "from the root, by cursor": { after: MIDDLE },
  "from the root, last first, by cursor": { after: MIDDLE, sortOrder: "desc" },
  "one directory": { directory: SOME_DIRECTORY, recursive: false },
  "one directory, by cursor": {
    directory: SOME_DIRECTORY,
    recursive: false,
    after: pathIn(FILES_PER_DIRECTORY, 3.5 * FILES_PER_DIRECTORY),
  },
  "one subtree": { directory: "top-3" },
  "one subtree, by cursor": { directory: "top-3", after: MIDDLE_OF_TOP_3 },
  "by size": { sortBy: "size" },
  "by size, largest first": { sortBy: "size", sortOrder: "desc" },
  "by date of change": { sortBy: "updated_at" },
  "by date of change, newest first": { sortBy: "updated_at", sortOrder: "desc" },
  "by date of creation": { sortBy: "created_at" },
  "by date of creation, newest first": { sortBy: "created_at", sortOrder: "desc" },
};

const LISTS_AT: Readonly<Record<string, Json>> = {
  "from the root": {},
  "from the root, by cursor": { after: MIDDLE },
  "one directory": { directory: SOME_DIRECTORY, recursive: false },
  "one subtree": { directory: "top-3" },
};

Deno.test(`plans in a project of ${FILES} files, one of ${PROJECTS}`, async (t) => {
  const server = await startPostgres();
  const database = await createMigrated(server, "plans");
  const { sql, plans } = connectNotingPlans(database.superuserUrl);
  try {
    await t.step(
      "lists by path and commits are planned in an empty database as they must be in a full one",
      async () => {
        const { sql, plans } = connectNotingPlans(database.superuserUrl);
        try {
          const project = await makeProject(sql, "empty");
          const path = "file";
          await commit(sql, project, "write", { path, segments: [newSegment(project)] });
          await explainEverything(sql);
          valueOf(await commit(sql, project, "overwrite", { path, segments: [newSegment(project)] }));
          assertEquals(indexesUsed(plans, "file_versions"), ["file_versions_by_commit"]);
          // Indexes for the page, and for the total and the names of folders.
          const indexes = [
            [{ directory: "a", recursive: false }, ["files_by_directory"]],
            [{ recursive: true }, ["files_by_directory", "files_project_id_path_key"]],
            [{ directory: "a", recursive: true }, ["files_by_directory", "files_project_id_path_key"]],
          ] as const;
          for (const [query, used] of indexes) {
            plans.length = 0;
            valueOf(await list(sql, project, { limit: PAGE, ...query }));
            assertEquals([...new Set(indexesUsed(plans, "files"))].sort(), [...used], JSON.stringify(query));
          }
        } finally {
          await sql.end();
        }
      },
    );
    const project = await makeProject(sql, "large");
    const scripts = {
      script: (text: string) => sql.begin((transaction) => transaction.unsafe(text).simple()),
    };
    const projects = [project];
    while (projects.length < PROJECTS) {
      projects.push(await makeProject(sql, `neighbour ${projects.length}`, { requestsPerMinute: 1000 }));
    }
    // So that the project is in the middle of the others, and not the first.
    projects.sort((a, b) => a.id < b.id ? -1 : 1);
    const started = performance.now();
    await populate(scripts, projects, {
      files: FILES,
      filesPerDirectory: FILES_PER_DIRECTORY,
      filesOnly: !IS_LONG,
    });
    if (IS_LONG) await reportSizes(sql, performance.now() - started);
    await addSegments(sql, project);
    await commit(sql, project, "write", { path: LONG_PATH, segments: [newSegment(project)] });
    await addVersions(scripts, project, LONG_PATH, VERSIONS);
    if (IS_LONG) await reportTimes(sql, project);
    await explainEverything(sql);
    const readBy = async (operation: () => Promise<Answer<unknown>>) => {
      plans.length = 0;
      valueOf(await operation());
      return rowsRead(plans, LARGE_TABLES);
    };

    for (const [name, query] of Object.entries(LISTS)) {
      await t.step(`list ${name} reads a page and what it counts, and no more`, async () => {
        const rows = await readBy(() => list(sql, project, { recursive: true, limit: PAGE, ...query }));
        const counted = "after" in query ? 0 : LIST_TOTAL_MAX + 1;
        assertBounded(rows, { files: ROWS_PER_PAGE_MAX + counted });
      });
    }
    await t.step(
      "names of folders cost a few rows each, however many files or deleted files are in them",
      async () => {
        const names = ["!deleted", "!large", "!large-deleted"];
        await scripts.script(`
        set local session_replication_role = replica;
        insert into filestore.files
          (project_id, path, version, mime_type, size, is_deleted, segment_ids, created_at, updated_at)
        select '${project.id}', name || '/' || n, 1, 'text/plain', 0, name like '%deleted', '{}', now(), now()
        from unnest('{${names}}'::text[]) name, generate_series(1, ${FOLDER_FILES}) n;
        analyze filestore.files`);
        let found: Json | undefined;
        const rows = await readBy(async () => {
          const answer = await list(sql, project, {
            directory: "",
            recursive: false,
            limit: 1,
            after: "zzz",
          });
          found = valueOf(answer);
          return answer;
        });
        const shown = ["!large", ...Array.from({ length: 10 }, (_, top) => `top-${top}`)];
        assertEquals(found?.["directories"], shown);
        assertBounded(rows, { files: 2 * shown.length + 2 });
        await scripts.script(`
        set local session_replication_role = replica;
        delete from filestore.files where project_id = '${project.id}' and path < 'a'`);
      },
    );
    // All files but one are older than that moment.
    for (const [name, query] of Object.entries(LISTS_AT)) {
      await t.step(`list ${name} as it was reads a page and no more`, async () => {
        const rows = await readBy(() =>
          list(sql, project, { recursive: true, limit: PAGE, at: "2026-03-01T00:00:00.000Z", ...query })
        );
        assertBounded(rows, { files: ROWS_PER_PAGE_MAX, file_versions: ROWS_PER_FILE_MAX });
      });
    }
    await t.step("a list of a time when nothing was there looks at a bounded number of files", async () => {
      const at = "2025-01-01T00:00:00.000Z";
      const rows = await readBy(() => list(sql, project, { recursive: true, limit: PAGE, at }));
      assertBounded(rows, { files: LIST_AT_EXAMINED_MAX + 2 * PAGE, file_versions: ROWS_PER_FILE_MAX });
    });
    await t.step("what a file was is found by bisection of its versions", async () => {
      const [then] = await sql<{ at: string }[]>`
        select filestore.iso(v.created_at) as at from filestore.file_versions v
        where v.version = ${MANY} and v.project_id = ${project.id}`;
      const rows = await readBy(async () => {
        const [row] = await sql<{ answer: Answer<unknown> }[]>`
          select public.filestore_content(
            ${project.keyHash}, null, ${LONG_PATH}, p_at => ${
          then?.at ?? ""
        }, p_with_segments => false) as answer`;
        if (!row) throw new Error("no answer");
        return row.answer;
      });
      assertBounded(rows, { files: ROWS_PER_FILE_MAX, file_versions: 2 * Math.ceil(Math.log2(VERSIONS)) });
    });
    const confined = await addConfinedKey(sql, project, "top-3");
    const CONFINED_LISTS = [
      {},
      { after: MIDDLE_OF_TOP_3 },
      { directory: "top-3", recursive: false },
    ];
    for (const query of CONFINED_LISTS) {
      await t.step(
        `a key with a path prefix lists a page and no more: ${JSON.stringify(query)}`,
        async () => {
          const rows = await readBy(() => list(sql, confined, { recursive: true, limit: PAGE, ...query }));
          assertBounded(rows, { files: ROWS_PER_PAGE_MAX + ("after" in query ? 0 : LIST_TOTAL_MAX + 1) });
        },
      );
    }
    await t.step("the latest writes are found among the files that changed last", async () => {
      const rows = await readBy(async () => {
        const [row] = await sql<{ answer: Answer<unknown> }[]>`
          select public.filestore_administer(${project.keyHash}, null, 'activity', '{"limit": 20}') as answer`;
        if (!row) throw new Error("no answer");
        return row.answer;
      });
      assertBounded(rows, { files: 100, file_versions: 20 * 20 });
    });
    for (
      const [name, offset] of [["newest", 0], ["middle", VERSIONS / 2], ["oldest", VERSIONS - PAGE]] as const
    ) {
      await t.step(`versions, the ${name} page, reads a page and no more`, async () => {
        const rows = await readBy(() => versions(sql, project, LONG_PATH, PAGE, offset));
        // One more for the first version, from which the answer tells whether versions were trimmed.
        assertBounded(rows, { files: ROWS_PER_FILE_MAX, file_versions: PAGE + 1 });
      });
    }
    for (const [name, operation] of Object.entries(operationsOnOneFile(sql, project))) {
      await t.step(`${name} reads a handful of rows`, async () => {
        // Postgres may choose another, cached plan after five calls.
        for (let time = 0; time < 8; time++) {
          const rows = await readBy(operation);
          assertBounded(rows, Object.fromEntries(LARGE_TABLES.map((table) => [table, ROWS_PER_FILE_MAX])));
        }
      });
    }
  } finally {
    await sql.end();
    await server.stop();
  }
});

/** The same project with a key that is confined to a directory. */
async function addConfinedKey(sql: postgres.Sql, project: Project, pathPrefix: string): Promise<Project> {
  const keyHash = crypto.getRandomValues(new Uint8Array(32)).toHex();
  await sql`
    insert into filestore.api_keys (project_id, key_hash, prefix, path_prefix)
    values (${project.id}, decode(${keyHash}, 'hex'), 'oa_test', ${pathPrefix})`;
  return { id: project.id, keyHash };
}

function operationsOnOneFile(
  sql: postgres.Sql,
  project: Project,
): Record<string, () => Promise<Answer<unknown>>> {
  const segments = () => [newSegment(project)];
  return {
    "record": () => record(sql, project, LONG_PATH),
    "record of an old version": () => record(sql, project, LONG_PATH, VERSIONS / 2),
    "content": () => content(sql, project, LONG_PATH),
    "write of a new file": () =>
      commit(sql, project, "write", {
        path: `${SOME_DIRECTORY}/${crypto.randomUUID()}`,
        segments: segments(),
      }),
    "overwrite": () => commit(sql, project, "overwrite", { path: LONG_PATH, segments: segments() }),
    "append": () => commit(sql, project, "append", { path: MIDDLE, segments: segments() }),
  };
}

/** Adds segments that no version names, so that the table is large. */
async function addSegments(sql: postgres.Sql, project: Project): Promise<void> {
  await sql`
    insert into filestore.segments (id, project_id, stored_on, size, sha256, newlines, ends_with_newline, is_text)
    select gen_random_uuid(), ${project.id}, current_date, 10, decode(repeat('00', 32), 'hex'), 0, false, true
    from generate_series(1, ${SEGMENTS}::integer)`;
  await sql`analyze filestore.segments`;
}

/** Throws if a table has more rows read than allowed. A table without a number must not be read at all. */
function assertBounded(rows: Readonly<Record<string, number>>, most: Readonly<Record<string, number>>): void {
  for (const [table, count] of Object.entries(rows)) {
    assert(
      count <= (most[table] ?? 0),
      `${count} rows of ${table} were read, at most ${most[table] ?? 0} may be`,
    );
  }
  assertEquals(Object.keys(rows), LARGE_TABLES);
}

/** Prints the bytes that a file takes in each table and its indexes. */
async function reportSizes(sql: postgres.Sql, milliseconds: number): Promise<void> {
  const files = PROJECTS * FILES;
  const tables = await sql<{ name: string; rows: number; indexes: number }[]>`
    select name, pg_table_size(oid) / ${files}::float as rows, pg_indexes_size(oid) / ${files}::float as indexes
    from unnest(${LARGE_TABLES}::text[]) name cross join lateral (select ('filestore.' || name)::regclass as oid) o`;
  const perFile = tables.map(({ name, rows, indexes }) =>
    `${name} ${rows.toFixed(0)} + ${indexes.toFixed(0)}`
  );
  const [database] = await sql<{ gigabytes: number }[]>`
    select pg_database_size(current_database()) / 1e9::float as gigabytes`;
  figures(
    `${files} files in ${PROJECTS} projects: ${database?.gigabytes.toFixed(1)} GB, made in ${
      (milliseconds / 60_000).toFixed(0)
    } min; bytes of rows + indexes for each file: ${perFile.join(", ")}`,
  );
}

/** Prints the median times of one client's calls. */
async function reportTimes(sql: postgres.Sql, project: Project): Promise<void> {
  const operations = {
    ...operationsOnOneFile(sql, project),
    "list of 100": () => list(sql, project, { recursive: true, limit: PAGE }),
    "list of 100, newest first": () =>
      list(sql, project, { recursive: true, limit: PAGE, sortBy: "updated_at", sortOrder: "desc" }),
  };
  const times: string[] = [];
  for (const [name, operation] of Object.entries(operations)) {
    const taken: number[] = [];
    for (let time = 0; time < 100; time++) {
      const started = performance.now();
      valueOf(await operation() as Answer<unknown>);
      taken.push(performance.now() - started);
    }
    times.push(`${name} ${median(taken).toFixed(2)}`);
  }
  // A short list, since nothing compacts here.
  valueOf(await commit(sql, project, "overwrite", { path: MIDDLE, segments: [newSegment(project)] }));
  figures(`milliseconds, one client: ${times.join(", ")}`);
}
