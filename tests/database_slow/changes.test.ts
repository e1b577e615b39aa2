/**
 * The change feed in the database: a cursor never skips a version that commits later, a page reads only the rows that
 * it shows, in a history of any length, and cursors survive a restore into another database.
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import postgres from "postgres";
import { CHANGES_EXAMINED_MAX, RUN_VERSIONS_COUNTED_MAX } from "../../supabase/functions/api/limits.ts";
import { addVersions } from "../bench/populate.ts";
import {
  connectNotingPlans,
  explainEverything,
  indexesUsed,
  type PlanNode,
  rowsRead,
} from "../support/postgres/plans.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated } from "../support/postgres/postgres_hosted.ts";
import {
  type Answer,
  commit,
  type Json,
  makeProject,
  newSegment,
  type Project,
  valueOf,
} from "../support/postgres/postgres_filestore.ts";

type Sql = postgres.Sql | postgres.TransactionSql;

interface Change {
  readonly cursor: string;
  readonly path: string;
  readonly version: number;
  readonly operation: string;
}

interface Page {
  readonly changes: readonly Change[];
  readonly cursor: string;
  readonly hasMore: boolean;
  readonly position: number;
}

interface Run {
  readonly runId: string;
  readonly fileCount: number;
  readonly versionCount: number;
}

const WHOLE = 1_000;
/** More versions than one call examines. */
const MANY = CHANGES_EXAMINED_MAX + 5_000;

Deno.test("the change feed in the database", async (t) => {
  const server = await startPostgres();
  const database = await createMigrated(server, "changes");
  const sql = connect(database.superuserUrl, 4);
  try {
    await t.step(
      "a commit under way holds the cursor back until it has ended, one way or the other",
      async () => {
        const project = await makeProject(sql, "held back");
        await write(sql, project, "first.txt");
        const start = valueOf(await changes(sql, project, {})).cursor;
        const { promise: held, resolve: hold } = Promise.withResolvers<void>();
        const { promise: released, resolve: release } = Promise.withResolvers<void>();
        const slow = sql.begin(async (transaction) => {
          await write(transaction, project, "slow.txt");
          hold();
          await released;
        });
        await held;
        await write(sql, project, "quick.txt");
        const before = valueOf(await changes(sql, project, { after: start }));
        assertEquals([before.changes, before.cursor, before.hasMore], [[], start, false]);
        const newest = async () => await newestChange(sql, project, before.position);
        assertEquals(await newest(), before.position, "a waiting client does not see it either");
        assertEquals(valueOf(await changes(sql, project, { after: "now" })).cursor, start);
        release();
        await slow;
        const after = valueOf(await changes(sql, project, { after: start }));
        assertEquals(after.changes.map(({ path }) => path), ["slow.txt", "quick.txt"]);
        assertEquals(await newest(), after.position);
        assertEquals(after.cursor, after.changes.at(-1)?.cursor);
      },
    );

    await t.step(
      "one that rolls back leaves a gap and nothing else, and other projects hold nobody back",
      async () => {
        const [project, other] = [await makeProject(sql, "gap"), await makeProject(sql, "beside")];
        await write(sql, project, "first.txt");
        const { promise: held, resolve: hold } = Promise.withResolvers<void>();
        const { promise: released, resolve: release } = Promise.withResolvers<void>();
        const slow = sql.begin(async (transaction) => {
          await write(transaction, project, "never.txt");
          hold();
          await released;
          throw new Error("rolled back");
        }).catch(() => {});
        await held;
        await write(sql, other, "beside.txt");
        assertEquals(valueOf(await changes(sql, other, {})).changes.map(({ path }) => path), ["beside.txt"]);
        await write(sql, project, "second.txt");
        release();
        await slow;
        const page = valueOf(await changes(sql, project, {}));
        assertEquals(page.changes.map(({ path }) => path), ["first.txt", "second.txt"]);
      },
    );

    await t.step(
      "a cursor is that of a version, or of the beginning: never of a number that was only taken",
      async () => {
        const project = await makeProject(sql, "cursors");
        const beginning = valueOf(await changes(sql, project, { after: "now" })).cursor;
        await sql`select nextval('filestore.positions') from generate_series(1, 10)`;
        assertEquals(valueOf(await changes(sql, project, {})).cursor, beginning);
        await write(sql, project, "a.txt");
        await sql`select nextval('filestore.positions') from generate_series(1, 10)`;
        const page = valueOf(await changes(sql, project, { after: beginning }));
        assertEquals(page.cursor, page.changes[0]?.cursor);
        assertEquals(valueOf(await changes(sql, project, { after: "now" })).cursor, page.cursor);
      },
    );

    await t.step("restored row by row into another cluster, cursors go on without loss", async () => {
      const project = await makeProject(sql, "moved");
      for (const path of ["a.txt", "b.txt"]) await write(sql, project, path);
      const seen = valueOf(await changes(sql, project, { limit: 1 }));
      const elsewhere = await startPostgres();
      const target = connect((await createMigrated(elsewhere, "restored")).superuserUrl, 1);
      try {
        await restore(sql, target);
        await write(target, project, "c.txt");
        const rest = valueOf(await changes(target, project, { after: seen.cursor }));
        assertEquals(rest.changes.map(({ path }) => path), ["b.txt", "c.txt"]);
        const again = valueOf(await changes(target, project, { after: rest.changes[0]?.cursor ?? "" }));
        assertEquals(again.changes.map(({ path }) => path), ["c.txt"]);
      } finally {
        await target.end();
        await elsewhere.stop();
      }
    });

    await t.step(
      "a filtered page ends where the look at the feed ends, and the next one goes on there",
      async () => {
        const project = await makeProject(sql, "sparse");
        await write(sql, project, "early.txt", "rare");
        await write(sql, project, "many.txt");
        await addVersions(scripts(sql), project, "many.txt", MANY);
        await write(sql, project, "late.txt", "rare");
        const first = valueOf(await changes(sql, project, { run: "rare" }));
        assertEquals([first.changes.map(({ path }) => path), first.hasMore], [["early.txt"], true]);
        const second = valueOf(await changes(sql, project, { run: "rare", after: first.cursor }));
        assertEquals([second.changes.map(({ path }) => path), second.hasMore], [["late.txt"], false]);
        const none = valueOf(await changes(sql, project, { actor: "nobody" }));
        assertEquals([none.changes, none.hasMore], [[], true]);
        assertEquals(none.cursor, first.cursor);
        const confined = await confinedKey(sql, project, "elsewhere");
        const unseen = valueOf(await changes(sql, confined, {}));
        assertEquals([unseen.changes, unseen.hasMore, unseen.cursor], [[], true, first.cursor]);
        const latest = valueOf(await changes(sql, project, { newestFirst: true, limit: 2 }));
        assertEquals(latest.changes.map(({ path, version }) => [path, version]), [
          ["many.txt", MANY + 1],
          ["late.txt", 1],
        ]);
        assertNotEquals(latest.hasMore, false);
        const back = (query: Record<string, unknown>) =>
          changes(sql, project, { newestFirst: true, run: "rare", ...query });
        const last = valueOf(await back({ before: "now" }));
        assertEquals([last.changes.map(({ path }) => path), last.hasMore], [["late.txt"], true]);
        const earliest = valueOf(await back({ before: last.cursor }));
        assertEquals([earliest.changes.map(({ path }) => path), earliest.hasMore], [["early.txt"], false]);
      },
    );

    await pagesByPlan(t, database.superuserUrl);
  } finally {
    await sql.end();
    await server.stop();
  }
});

/** Counts the rows read, with plans made while the tables were small and while they were large. */
async function pagesByPlan(t: Deno.TestContext, url: string): Promise<void> {
  const { sql, plans } = connectNotingPlans(url);
  const tables = ["file_versions", "files", "runs"];
  const noted = async <Value>(operation: () => Promise<Answer<Value>>): Promise<Record<string, number>> => {
    plans.length = 0;
    valueOf(await operation());
    return rowsRead(plans, tables);
  };
  try {
    const project = await makeProject(sql, "plans");
    await write(sql, project, "log.txt", "first");
    await explainEverything(sql);
    // The session's cached plans are made now, while the tables are nearly empty.
    valueOf(await changes(sql, project, {}));
    await addVersions(scripts(sql), project, "log.txt", MANY);
    await sql`insert into filestore.runs (project_id, run_id, first_position)
      select ${project.id}, 'run-' || n, -n from generate_series(1, 5000) n`;
    await sql`update filestore.file_versions set run_id = 'first' where project_id = ${project.id}`;
    await sql.unsafe("vacuum analyze filestore.file_versions").simple();
    const middle = valueOf(
      await changes(sql, project, { after: valueOf(await changes(sql, project, { limit: WHOLE })).cursor }),
    ).cursor;

    /** Pages of up to 100 changes. `more`: further rows, of positions, and of files that are looked up for their paths. */
    const assertPages = async (more: number) => {
      const backwards = ["now", middle].map((before) => ({ newestFirst: true, before }));
      for (const query of [{}, { after: middle }, { newestFirst: true }, { after: "now" }, ...backwards]) {
        const rows = await noted(() => changes(sql, project, { limit: 100, ...query }));
        // The positions and filtered columns, of one version more than shown; the records; and the last position.
        assert((rows["file_versions"] ?? 0) <= 3 * 100 + 3 + more, JSON.stringify([query, rows]));
        assert((rows["files"] ?? 0) <= 2 * 100 + more, JSON.stringify([query, rows]));
        assertEquals(sorts(plans), [], JSON.stringify(query));
        assert(indexesUsed(plans, "file_versions").every((name) => name === "file_versions_by_position"));
      }
    };

    await t.step(
      "a page reads its own versions, at the beginning, in the middle and at the end",
      () => assertPages(0),
    );
    await t.step("a filtered page looks at as many as it may, and no more", async () => {
      const rows = await noted(() => changes(sql, project, { actor: "nobody" }));
      assert((rows["file_versions"] ?? 0) <= 2 * CHANGES_EXAMINED_MAX + 1, JSON.stringify(rows));
      assertEquals(rows["files"], 0, "whose paths do not matter");
      assertEquals(sorts(plans), []);
    });
    await t.step("what was before a time is found by bisection, not by reading back", async () => {
      const query = { limit: 100, newestFirst: true, before: "2001-01-01T00:00:00.000Z" };
      const rows = await noted(() => changes(sql, project, query));
      assert((rows["file_versions"] ?? 0) <= 64, JSON.stringify(rows));
      assertEquals(sorts(plans), []);
      assertEquals([...new Set(indexesUsed(plans, "file_versions"))], ["file_versions_by_position"]);
    });
    await t.step("each question of a waiting client reads one index entry", async () => {
      const { position } = valueOf(await changes(sql, project, { after: "now" }));
      plans.length = 0;
      assertEquals(await newestChange(sql, project, position), position);
      assertEquals(rowsRead(plans, tables)["file_versions"], 0);
      assertEquals(indexesUsed(plans, "file_versions"), ["file_versions_by_position"]);
    });
    await t.step("runs are summed up from indexes alone", async () => {
      plans.length = 0;
      const [first] = valueOf(await runs(sql, project, 10, null)).runs;
      assertEquals([first?.runId, first?.fileCount, first?.versionCount], [
        "first",
        1,
        RUN_VERSIONS_COUNTED_MAX,
      ]);
      const nodes = all(plans).filter((node) => node["Relation Name"] === "file_versions");
      assert(
        nodes.every((node) => node["Node Type"] === "Index Only Scan"),
        JSON.stringify(nodes.slice(0, 3)),
      );
      const indexes = new Set(indexesUsed(plans, "file_versions"));
      assertEquals([...indexes].toSorted(), ["file_versions_by_run", "file_versions_by_undone_run"]);
    });
    await t.step("a page of runs looks at no more of them than it may", async () => {
      const confined = await confinedKey(sql, project, "elsewhere");
      plans.length = 0;
      const page = valueOf(await runs(sql, confined, 10, null));
      assertEquals([page.runs, page.hasMore], [[], true]);
    });
    await t.step(
      "with a branch, a page also looks up the file of each of its versions, and looks once",
      async () => {
        const branch = { name: "try", directory: "", expiresIn: 3600, commitId: crypto.randomUUID() };
        await sql`select public.filestore_create_branch(${project.keyHash}, null, ${
          JSON.stringify(branch)
        }::text::jsonb)`;
        await assertPages(100 + 2);
      },
    );
  } finally {
    await sql.end();
  }
}

function all(plans: readonly PlanNode[]): PlanNode[] {
  return plans.flatMap((node) => [node, ...all(node.Plans ?? [])]);
}

/** Nodes that sort more rows than the page shows. */
function sorts(plans: readonly PlanNode[]): PlanNode[] {
  return all(plans).filter((node) => node["Node Type"].includes("Sort") && node["Actual Rows"] > 100);
}

function scripts(sql: postgres.Sql) {
  return { script: (text: string) => sql.begin((transaction) => transaction.unsafe(text).simple()) };
}

async function write(sql: Sql, project: Project, path: string, runId?: string): Promise<void> {
  const change = { path, segments: [newSegment(project)], ...runId && { provenance: { runId } } };
  valueOf(await commit(sql, project, "write", change));
}

async function changes(sql: Sql, project: Project, query: Json): Promise<Answer<Page>> {
  const [row] = await sql<{ answer: Answer<Page> }[]>`
    select public.filestore_changes(${project.keyHash}, null, ${
    JSON.stringify({ limit: 100, ...query })
  }::text::jsonb) as answer`;
  if (row === undefined) throw new Error("no answer");
  return row.answer;
}

async function runs(
  sql: Sql,
  project: Project,
  limit: number,
  after: string | null,
): Promise<Answer<{ runs: Run[]; hasMore: boolean; cursor: string }>> {
  const [row] = await sql<{ answer: Answer<{ runs: Run[]; hasMore: boolean; cursor: string }> }[]>`
    select public.filestore_runs(${project.keyHash}, null, ${limit}, ${after}) as answer`;
  if (row === undefined) throw new Error("no answer");
  return row.answer;
}

async function newestChange(sql: Sql, project: Project, known: number): Promise<number> {
  const [row] = await sql<{ position: string }[]>`
    select public.filestore_newest_change(${project.id}, ${known}) as position`;
  return Number(row?.position);
}

async function confinedKey(sql: Sql, project: Project, prefix: string): Promise<Project> {
  const keyHash = crypto.getRandomValues(new Uint8Array(32)).toHex();
  await sql`insert into filestore.api_keys (project_id, key_hash, prefix, path_prefix)
    values (${project.id}, decode(${keyHash}, 'hex'), 'oa_test', ${prefix})`;
  return { id: project.id, keyHash };
}

/** Copies the service's tables and its sequence to another server with pg_dump. */
async function restore(source: postgres.Sql, target: postgres.Sql): Promise<void> {
  const tables = await source<{ name: string; columns: string }[]>`
    select c.oid::regclass::text as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r' and a.attgenerated = ''
    group by c.oid`;
  const [{ last } = { last: "0" }] = await source<{ last: string }[]>`
    select last_value::text as last from filestore.positions`;
  await target.begin(async (transaction) => {
    await transaction`set local session_replication_role = replica`;
    for (const { name, columns } of tables) {
      await transaction.unsafe(`delete from ${name}`);
      const rows = await source.unsafe(`select to_jsonb(t) as row from (select ${columns} from ${name}) t`);
      const text = JSON.stringify(rows.map(({ row }) => row));
      await transaction.unsafe(
        `insert into ${name} (${columns}) select ${columns} from jsonb_populate_recordset(null::${name}, $1::text::jsonb)`,
        [text],
      );
    }
    await transaction`select setval('filestore.positions', ${last}::bigint)`;
  });
}
