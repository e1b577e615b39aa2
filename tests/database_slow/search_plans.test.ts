/**
 * A search finds its candidates by index, in a large project and in a small one beside it, and reads hardly more rows
 * than it returns. TEST_LONG=1: 100,000 files of 2 KB, otherwise fewer. The tests' Postgres lacks the extension
 * `vector`, so search by meaning is tested on PGlite.
 */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { SEARCH_BATCH_BYTES, SEARCH_TEXT_BYTES_MAX } from "../../supabase/functions/api/limits.ts";
import { figures, IS_LONG } from "../support/runner/long.ts";
import { median } from "../bench/measure.ts";
import { limitChange } from "../support/postgres/change_limit.ts";
import { connectNotingPlans, explainEverything, type PlanNode, rowsRead } from "../support/postgres/plans.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { type Json, makeProject, type Project } from "../support/postgres/postgres_filestore.ts";
import { openPglite } from "../support/postgres/pglite.ts";
import { createMigrated } from "../support/postgres/postgres_hosted.ts";
import { sqlNumber } from "../support/postgres/sql_number.ts";

const WALK_FILES = sqlNumber("81_search.sql", "c_walk_files");

const LARGE = IS_LONG ? 100_000 : 3_000;
const SMALL = 800;
/** Words of each text. */
const WORDS = IS_LONG ? 260 : 80;
const SHARING = IS_LONG ? 50_000 : 2_000;
/** Rows that a selective search may read in the large project. In a small project it may read all rows, but no others. */
const ROWS_MAX = 120;
const TABLES = ["search_texts", "search_contents", "search_chunks", "files"];

/**
 * Adds texts of WORDS words out of 20,000, each with one unique word. `isShared`: they are stored as contents that files
 * share.
 */
function fill({ id }: Pick<Project, "id">, files: number, isShared = false): string {
  return `
    set local session_replication_role = replica;
    set local maintenance_work_mem = '256MB';
    -- Made anew afterwards: that is quicker than filling them row by row.
    create temp table gins on commit drop as
      select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
      where i.indrelid in ('filestore.search_texts'::regclass, 'filestore.search_contents'::regclass) and a.amname = 'gin';
    do $$ declare v_name text; begin
      for v_name in select name from gins loop execute 'drop index ' || v_name; end loop;
    end $$;
    create temp table texts on commit drop as
      select gen_random_uuid() as id, 'dir-' || n / 100 || '/file-' || lpad(n::text, 6, '0') || '.md' as path,
        (select string_agg(
           translate(to_hex((hashint8(n * 1000::bigint + g) & 1048575) % 20000 * 7919 + 1048576), '0123456789abcdef', 'aeioubcdfglmnprs'),
           case g % 11 when 0 then E'\\n' else ' ' end order by g)
         from generate_series(1, ${WORDS}) g)
        || E'\\nmark' || translate(lpad(n::text, 6, '0'), '0123456789', 'qjxzkvwpyb') || E'\\n' as content
      from generate_series(0, ${files - 1}) n;
    insert into filestore.files (id, project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
      select id, '${id}', path, 1, 'text/markdown', octet_length(content), '{}', now(), now() from texts;
    insert into filestore.search_contents (project_id, hash, content, words)
      select '${id}', sha256(content::bytea), content, (filestore.search_content_words(content)).words from texts where ${isShared};
    insert into filestore.search_texts (
        project_id, file_id, version, path, mime_type, content, content_hash, bytes, json_bytes, words)
      select '${id}', id, 1, path, 'text/markdown', case when not ${isShared} then content end,
        case when ${isShared} then sha256(content::bytea) end, octet_length(content), octet_length(to_json(content)::text),
        case when ${isShared} then filestore.search_path_words(path)
          else filestore.search_path_words(path) || (filestore.search_content_words(content)).words end from texts;
    do $$ declare v_definition text; begin
      for v_definition in select definition from gins loop execute v_definition; end loop;
    end $$;`;
}

/** The word that only file `n` contains. */
function markOf(n: number): string {
  return "mark" + String(n).padStart(6, "0").replace(/\d/g, (digit) => "qjxzkvwpyb"[Number(digit)] ?? "");
}

const base = { directory: "", files: 11, skip: 0, bytes: 4_000_000 };
const SELECTIVE: Readonly<Record<string, Json>> = {
  "text": { kind: "scan", clauses: [[markOf(777)]], caseSensitive: true },
  "text without case": { kind: "scan", clauses: [[markOf(777).toUpperCase()]], caseSensitive: false },
  "a pattern with alternatives": { kind: "scan", clauses: [[markOf(777), markOf(778)]], caseSensitive: true },
  "text in a directory": { kind: "scan", clauses: [[markOf(777)]], caseSensitive: true, directory: "dir-7" },
  "words": { kind: "rank", words: markOf(777) },
  "a word of all paths and one of the text": { kind: "rank", words: `file ${markOf(777)}` },
};

Deno.test(`plans of search: ${LARGE} files, and ${SMALL} beside them`, async (t) => {
  const server = await startPostgres();
  const database = await createMigrated(server, "search_plans");
  const { sql, plans } = connectNotingPlans(database.superuserUrl);
  try {
    const large = await makeProject(sql, "large");
    const small = await makeProject(sql, "small");
    const sharing = await makeProject(sql, "sharing");
    for (const [project, files] of [[large, LARGE], [small, SMALL], [sharing, SHARING]] as const) {
      await sql.begin((transaction) =>
        transaction.unsafe(fill(project, files, project === sharing)).simple()
      );
    }
    await sql`vacuum analyze filestore.search_texts`;
    await sql`vacuum analyze filestore.search_contents`;
    await sql`analyze filestore.files`;
    const ask = async (project: Project, query: Json) => {
      const [row] = await sql<{ answer: { value: { files: { file: { path: string } }[] } } }[]>`
        select public.filestore_search(${project.keyHash}, null, ${
        JSON.stringify({ ...base, ...query })
      }::text::jsonb) as answer`;
      return row?.answer.value.files.map(({ file }) => file.path) ?? [];
    };
    if (IS_LONG) {
      await printSizes(sql);
      await printTimes([large, small, sharing], ask);
    }
    await explainEverything(sql);
    for (const [size, project] of [["large", large], ["small", small], ["sharing", sharing]] as const) {
      for (const [name, query] of Object.entries(SELECTIVE)) {
        await t.step(
          `${name}, in the ${size} project, is answered from an index and reads few rows`,
          async () => {
            plans.length = 0;
            const paths = await ask(project, query);
            assert(paths.includes("dir-7/file-000777.md"), paths.join());
            assertIndexed(plans, rowsMax(size, name));
          },
        );
      }
      await t.step(`a broad text, in the ${size} project, reads about a page`, async () => {
        plans.length = 0;
        assertEquals(
          (await ask(project, { kind: "scan", clauses: [["a"]], caseSensitive: true })).length,
          11,
        );
        assertIndexed(plans, ROWS_MAX);
      });
    }
    await t.step(
      "a text too short for the index, in no file or in one, reads a part of them and goes on",
      async () => {
        // Counted from the statistics, since Postgres reports no plan for a query that is read through a cursor.
        const page = (after?: string, literal = "Q7") =>
          sql.begin(async (transaction) => {
            const query = { ...base, kind: "scan", clauses: [[literal]], caseSensitive: false };
            const whole = JSON.stringify(after === undefined ? query : { ...query, after });
            const before = await rowsReadSoFar(transaction);
            const [row] = await transaction<{ answer: { value: Page } }[]>`
              select public.filestore_search(${large.keyHash}, null, ${whole}::text::jsonb) as answer`;
            if (row === undefined) throw new Error("no answer");
            return { ...row.answer.value, rows: await rowsReadSoFar(transaction) - before };
          });
        // Signs are in no trigram, in any number.
        const { rows, next, files } = await page(undefined, "::====>>");
        assert(rows <= WALK_FILES + ROWS_MAX && next !== null, `${rows} rows were read`);
        assertEquals(files, []);
        for (const holder of [[], [LARGE - 1], [0]]) {
          for (const n of holder) {
            await sql`
            update filestore.search_texts set content = content || ' q7' where project_id = ${large.id}
              and path like ${"%file-" + String(n).padStart(6, "0") + "%"}`;
          }
          const found: string[] = [];
          let calls = 0;
          let total = 0;
          let after: string | null | undefined = undefined;
          for (; after !== null; calls++) {
            const { files, next, rows } = await page(after);
            total += rows;
            assert(rows <= WALK_FILES + ROWS_MAX, `${rows} rows were read`);
            found.push(...files.map(({ file }) => file.path));
            after = next;
          }
          assert(calls >= LARGE / WALK_FILES && total >= LARGE, `${total} rows, ${calls} calls`);
          assertEquals(found.length, holder.length === 0 ? 0 : holder[0] === 0 ? 2 : 1);
        }
      },
    );
    await t.step("a page is counted in bytes of JSON, in which a control character takes six", async () => {
      const texts = 9;
      await sql.begin(async (transaction) => {
        await transaction`set local session_replication_role = replica`;
        await transaction`
          with texts as (
            select gen_random_uuid() as id, 'controls/' || n as path, content, octet_length(content) as bytes
            from generate_series(1, ${texts}) n,
              -- Half of them as large as a text may be, half of them small.
              lateral (select repeat(chr(1), (case n % 2 when 0 then 1000 else ${SEARCH_TEXT_BYTES_MAX} end) - 8)
                || 'q9q9q9q9' as content) c
          ), made as (
            insert into filestore.files (id, project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
            select id, ${small.id}, path, 1, 'text/plain', bytes, '{}', now(), now() from texts
          )
          insert into filestore.search_texts (project_id, file_id, version, path, mime_type, content, bytes, json_bytes, words)
          select ${small.id}, id, 1, path, 'text/plain', content, bytes, octet_length(to_json(content)::text),
            filestore.search_path_words(path) || (filestore.search_content_words(content)).words from texts`;
      });
      const found: string[] = [];
      let largest = 0;
      let after: string | null | undefined;
      do {
        const query = { ...base, kind: "scan", clauses: [["q9q9q9q9"]], caseSensitive: true };
        const whole = JSON.stringify({ ...query, bytes: SEARCH_BATCH_BYTES, ...(after && { after }) });
        const [row]: { answer: string }[] = await sql`
          select public.filestore_search(${small.keyHash}, null, ${whole}::text::jsonb)::text as answer`;
        const { value }: { value: Page } = JSON.parse(row?.answer ?? "");
        largest = Math.max(largest, row?.answer.length ?? 0);
        found.push(...value.files.map(({ file }) => file.path));
        after = value.next;
      } while (after !== null);
      assertEquals(found, Array.from({ length: texts }, (_, n) => `controls/${n + 1}`));
      assert(largest > 6_000_000 && largest < 6 * SEARCH_TEXT_BYTES_MAX + 10_000, `${largest} bytes`);
      const ranked = { ...base, kind: "rank", words: "q9q9q9q9", bytes: SEARCH_BATCH_BYTES };
      const [row] = await sql<{ answer: string }[]>`
        select public.filestore_search(${small.keyHash}, null, ${
        JSON.stringify(ranked)
      }::text::jsonb)::text as answer`;
      const { value } = JSON.parse(row?.answer ?? "");
      assertEquals([value.hasMore, value.files.length >= 1], [true, true]);
      assert((row?.answer.length ?? 0) < 6 * SEARCH_TEXT_BYTES_MAX + 10_000, `${row?.answer.length} bytes`);
    });
  } finally {
    await sql.end();
    await server.stop();
  }
});

interface Page {
  readonly files: readonly { readonly file: { readonly path: string } }[];
  readonly next: string | null;
}

async function rowsReadSoFar(transaction: postgres.TransactionSql): Promise<number> {
  const [read] = await transaction<{ rows: number }[]>`
    select (idx_tup_fetch + seq_tup_read)::integer as rows from pg_stat_xact_user_tables
    where relname = 'search_texts'`;
  return read?.rows ?? 0;
}

function rowsMax(size: "large" | "small" | "sharing", name: string): number {
  if (size === "small") return SMALL + ROWS_MAX;
  // Of files with shared contents, a search reads those whose path contains a word of the query, but not their
  // contents.
  return size === "sharing" && name.includes("of all paths")
    ? Math.min(SHARING, 10_000) + ROWS_MAX
    : ROWS_MAX;
}

/** Asserts that no table is read sequentially, and that at most `rowsMax` rows are read. */
function assertIndexed(plans: readonly PlanNode[], rowsMax: number): void {
  const rows = Object.values(rowsRead(plans, TABLES)).reduce((sum, count) => sum + count, 0);
  assert(rows > 0 && rows <= rowsMax, `${rows} rows were read: ${JSON.stringify(plans)}`);
}

async function printTimes(
  projects: readonly Project[],
  ask: (project: Project, query: Json) => Promise<unknown>,
): Promise<void> {
  for (const [name, query] of Object.entries(SELECTIVE)) {
    const medians: string[] = [];
    for (const project of projects) {
      const times: number[] = [];
      for (let n = 0; n < 9; n++) {
        const started = performance.now();
        await ask(project, query);
        times.push(performance.now() - started);
      }
      medians.push(median(times).toFixed(1));
    }
    figures(
      `${name}: ${medians.join(", ")} ms of ${LARGE} files, ${SMALL}, and ${SHARING} in shared contents`,
    );
  }
}

async function printSizes(sql: postgres.Sql): Promise<void> {
  const [size] = await sql<Record<string, string>[]>`
    select sum(t.bytes) as content, pg_indexes_size('filestore.search_texts') as indexes,
      pg_table_size('filestore.search_texts') as stored from filestore.search_texts t`;
  const content = Number(size?.["content"]);
  const part = (name: string) => (Number(size?.[name]) / content).toFixed(2);
  // deno-lint-ignore no-console -- figures that the test was run for
  console.log(
    `content ${(content / 1e6).toFixed(0)} MB; indexes ${part("indexes")} of it, texts and words ${
      part("stored")
    }`,
  );
}

/** The number of chunks beyond which the index is used; smaller in the short form. */
const EXACT_CHUNKS_MAX = IS_LONG ? 10_000 : 1_000;
const SOME_CHUNK = 777;
const CHUNKS = IS_LONG ? 100_000 : EXACT_CHUNKS_MAX + 500;

Deno.test("search by meaning: the vector index in a large project, exact in a small one, and right in both", async () => {
  const database = await openPglite();
  try {
    const hashes = { large: "aa".repeat(32), small: "bb".repeat(32) };
    for (const [name, chunks] of [["large", CHUNKS], ["small", 300]] as const) {
      await database.exec(fillVectors(name, hashes[name], chunks));
    }
    await database.exec(
      await limitChange("search_exact_chunks_max", EXACT_CHUNKS_MAX, async (call) => {
        const { rows } = await database.query<{ definition: string }>(`select ${call} as definition`);
        return rows[0]?.definition;
      }),
    );
    await database.exec("analyze filestore.search_chunks; analyze filestore.search_texts");
    const scans = async (): Promise<number> => {
      await database.query("select pg_stat_force_next_flush()");
      const { rows } = await database.query<{ scans: number }>(
        "select idx_scan::integer as scans from pg_stat_user_indexes where indexrelname = 'search_chunks_by_meaning_384'",
      );
      return rows[0]?.scans ?? -1;
    };
    for (const [name, most] of [["large", 1], ["small", 0]] as const) {
      const query = {
        ...base,
        kind: "rank",
        model: "m",
        vector: vectorOf(name === "large" ? SOME_CHUNK : 42),
      };
      const before = await scans();
      const { rows } = await database.query<{ answer: { value: { files: { file: { path: string } }[] } } }>(
        "select public.filestore_search($1, null, $2) as answer",
        [hashes[name], JSON.stringify(query)],
      );
      assertEquals(
        rows[0]?.answer.value.files[0]?.file.path,
        `${name}-${name === "large" ? SOME_CHUNK : 42}.md`,
      );
      assertEquals(await scans() - before, most, `${name}: scans of the vector index`);
    }
  } finally {
    await database.close();
  }
});

/** A vector whose direction depends on n through sines, computed alike in SQL and here. */
function vectorOf(n: number): number[] {
  return Array.from({ length: 384 }, (_, k) => Math.sin(n * (k + 1) * 0.37));
}

function fillVectors(name: string, keyHash: string, chunks: number): string {
  return `
    begin;
    insert into filestore.projects (name, tier) values ('${name}', 'enterprise');
    insert into filestore.api_keys (project_id, key_hash, prefix)
      select id, decode('${keyHash}', 'hex'), 'oa' from filestore.projects where name = '${name}';
    set local session_replication_role = replica;
    create temp table made on commit drop as
      select n, gen_random_uuid() as id, (select id from filestore.projects where name = '${name}') as project_id
      from generate_series(1, ${chunks}) n;
    insert into filestore.files (id, project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
      select id, project_id, '${name}-' || n || '.md', 1, 'text/markdown', 4, '{}', now(), now() from made;
    insert into filestore.search_texts (project_id, file_id, version, path, mime_type, content, bytes, json_bytes, words, model)
      select project_id, id, 1, '${name}-' || n || '.md', 'text/markdown', 'text', 4, 6, '', 'm' from made;
    insert into filestore.search_chunks (project_id, file_id, hash, version, first_line, start, length, model, embedding)
      select project_id, id, id, 1, 1, 0, 4, 'm', array(select sin(n * k * 0.37)::real from generate_series(1, 384) k) from made;
    commit;`;
}
