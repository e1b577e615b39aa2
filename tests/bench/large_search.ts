/**
 * Search in 100,000 files on a real Postgres, compared with ripgrep over the same files on disk, and the space of the
 * index. Vectors are made up, since embedding all texts takes an hour, and used only if the server has the
 * extension `vector`: `--db` names such a server.
 */
import { join } from "node:path";
import { hashApiKey } from "../../supabase/functions/api/auth/api_key.ts";
import { packageDocumentation } from "../support/content/package_docs.ts";
import { randomFrom } from "../support/random.ts";
import { type Bench, fewer, sized } from "./bench.ts";
import type { BenchStack, Project } from "./bench_stack.ts";
import { Client } from "./client.ts";
import { interleave, median, quantile, timed } from "./measure.ts";
import { atLeast, atMost, type Report } from "./report.ts";

const FILES = 100_000;
const FILES_PER_DIRECTORY = 100;
const FILES_PER_INSERT = 1_000;
const WORDS_PER_FILE = 120;
const VOCABULARY = 20_000;
const SEED = 23;
const DIMENSIONS = 384;
const CENTRES = 2_000;
const RECALL_QUERIES = 40;
const MODEL = "made up";

interface File {
  readonly path: string;
  readonly content: string;
}

export async function largeSearch({ stack, rounds, report }: Bench): Promise<void> {
  report.group(`Search in ${FILES} files, on a real Postgres`);
  await spaceOfDocuments(stack, report);
  const project = await stack.project();
  const folder = await Deno.makeTempDir({ prefix: "filestore-ripgrep-" });
  try {
    const before = await bytesOf(stack, TEXT_TABLES);
    const bytes = await fill(stack, project, folder);
    const grown = await bytesOf(stack, TEXT_TABLES) - before;
    report.against("space: made-up texts, without vectors", grown, "B", "their bytes", bytes, atMost(1.5));
    await patterns(stack, project, folder, rounds, report);
    if (await hasVectors(stack)) await meaning(stack, project, rounds, report);
    else report.remark("Vectors are left out: this Postgres does not have the extension `vector`.");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const TEXT_TABLES = ["search_texts", "search_contents"];

/** Bytes of these tables including indexes, after a vacuum. */
async function bytesOf(stack: BenchStack, tables: readonly string[]): Promise<number> {
  for (const table of tables) await stack.sql(`vacuum analyze filestore.${table}`);
  const [row] = await stack.sql<{ bytes: number }>(
    `select sum(pg_total_relation_size(t))::float8 as bytes
     from unnest(array[${tables.map((table) => `'filestore.${table}'::regclass`).join()}]) t`,
  );
  return row?.bytes ?? NaN;
}

/** Reports the space of published documents, each stored individually as the service does. */
async function spaceOfDocuments(stack: BenchStack, report: Report): Promise<void> {
  const { id } = await stack.project();
  const before = await bytesOf(stack, TEXT_TABLES);
  const all = await packageDocumentation();
  const documents = all.slice(0, sized(all.length));
  for (let at = 0; at < documents.length; at += 50) {
    await store(stack, id, documents.slice(at, at + 50).map(({ path, text }) => ({ path, content: text })));
  }
  const [row] = await stack.sql<{ bytes: number }>(
    "select sum(bytes)::float8 as bytes from filestore.search_texts where project_id = $1",
    [id],
  );
  const grown = await bytesOf(stack, TEXT_TABLES) - before;
  report.against(
    "space: documents, without vectors",
    grown,
    "B",
    "their bytes",
    row?.bytes ?? NaN,
    atMost(1.5),
  );
}

/** Adds the rows of files that were written and indexed, without their versions and bytes. */
async function store(stack: BenchStack, projectId: string, files: readonly File[]): Promise<void> {
  // Without NUL and lone surrogates, which JSON in Postgres cannot contain.
  const held = files.map(({ path, content }) => ({
    path,
    content: content.replaceAll("\0", "").toWellFormed(),
  }));
  const texts = JSON.stringify(held).replaceAll("'", "''");
  await stack.script(`
    -- Nothing is queued: it is indexed here.
    set local session_replication_role = replica;
    create temp table texts on commit drop as
      select gen_random_uuid() as id, t.path, t.content, filestore.search_content_hash(t.content) as hash
      from jsonb_to_recordset('${texts}'::jsonb) t (path text, content text);
    insert into filestore.files (id, project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
      select id, '${projectId}', path, 1, 'text/markdown', octet_length(content), '{}', now(), now() from texts;
    insert into filestore.search_contents (project_id, hash, content, words, is_cut)
      select '${projectId}', t.hash, t.content, w.words, w.is_cut
      from (select distinct on (hash) * from texts where hash is not null) t,
        filestore.search_content_words(t.content) w
      on conflict do nothing;
    insert into filestore.search_texts (
        project_id, file_id, version, path, mime_type, content, content_hash, bytes, json_bytes, words, model)
      select '${projectId}', id, 1, path, 'text/markdown', case when hash is null then content end, hash,
        octet_length(content), octet_length(to_json(content)::text),
        filestore.search_path_words(path) || case when hash is null
          then (filestore.search_content_words(content)).words else ''::tsvector end, '${MODEL}'
      from texts;`);
}

/** The word that only file `n` contains. */
function markOf(n: number): string {
  return "mark" + String(n).padStart(6, "0").replace(/\d/g, (digit) => "qjxzkvwpyb"[Number(digit)] ?? "");
}

/** Words of a made-up language, some far more frequent than others, and one unique word in each file. */
function* files(): Generator<File> {
  const random = randomFrom(SEED);
  const letters = "etaoinshrdlucmfwypvbgk";
  const word = () =>
    Array.from(
      { length: 3 + random.below(7) },
      () => letters[Math.floor((random.below(1_000) / 1_000) ** 1.5 * letters.length)],
    ).join("");
  const words = Array.from({ length: VOCABULARY }, word);
  for (let n = 0; n < sized(FILES); n++) {
    const lines = [`${markOf(n)} ${n}`];
    for (let at = 0; at < WORDS_PER_FILE; at += 10) {
      lines.push(
        Array.from({ length: 10 }, () =>
          // Zipf's law: the rank of a word is about the exponential of a uniform random number.
          words[Math.floor(VOCABULARY ** (random.below(1_000_000) / 1_000_000))]).join(" "),
      );
    }
    const directory = `dir-${String(Math.floor(n / FILES_PER_DIRECTORY)).padStart(4, "0")}`;
    yield { path: `${directory}/file-${String(n).padStart(6, "0")}.md`, content: lines.join("\n") + "\n" };
  }
}

/**
 * Writes the files to the folder and into the index, then rebuilds the indexes of trigrams and words. Returns the
 * number of bytes.
 */
async function fill(stack: BenchStack, { id }: Project, folder: string): Promise<number> {
  const gins = await stack.sql<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
     where i.indrelid in ('filestore.search_texts'::regclass, 'filestore.search_contents'::regclass)
       and a.amname = 'gin'`,
  );
  for (const { name } of gins) await stack.sql(`drop index ${name}`);
  let bytes = 0;
  let some: File[] = [];
  for (const file of files()) {
    bytes += file.content.length;
    some.push(file);
    const directory = join(folder, file.path.split("/")[0] ?? "");
    if (some.length % FILES_PER_DIRECTORY === 1) await Deno.mkdir(directory, { recursive: true });
    await Deno.writeTextFile(join(folder, file.path), file.content);
    if (some.length === FILES_PER_INSERT) {
      await store(stack, id, some);
      some = [];
    }
  }
  await stack.script(
    `set local maintenance_work_mem = '512MB'; ${gins.map(({ definition }) => definition).join("; ")}`,
  );
  await stack.sql("analyze filestore.files");
  return bytes;
}

const PATTERNS = {
  "selective text": { mode: "text", q: markOf(77_777), isSelective: true },
  "selective regex": { mode: "regex", q: `mark[a-z]+${markOf(77_777).slice(-5)} `, isSelective: true },
  "broad text": { mode: "text", q: "the", isSelective: false },
} as const;

/**
 * Searches by pattern over HTTP and in SQL alone, compared with ripgrep. For a broad pattern the service returns a page
 * of ten files.
 */
async function patterns(
  stack: BenchStack,
  project: Project,
  folder: string,
  rounds: number,
  report: Report,
): Promise<void> {
  const client = new Client(stack.baseUrl, project.key);
  const keyHash = await hashApiKey(project.key);
  const hasRipgrep = await ripgrep(["--version"]).then(() => true, () => false);
  if (!hasRipgrep) report.remark("ripgrep is not installed (`apt-get install ripgrep`).");
  for (const [name, { mode, q, isSelective }] of Object.entries(PATTERNS)) {
    const parameters = new URLSearchParams({ mode, q, limit: "10" });
    const byHttp = () => client.send("GET", `/search?${parameters}`);
    // The literals of a pattern, the longest first, as the function sends them.
    const clauses = mode === "regex" ? [[`${markOf(77_777).slice(-5)} `], ["mark"]] : [[q]];
    const query = {
      kind: "scan",
      clauses,
      caseSensitive: true,
      directory: "",
      files: 11,
      skip: 0,
      bytes: 4_000_000,
    };
    const rg = () => ripgrep(["--files-with-matches", "--regexp", q, folder]);
    report.value(`${name}: over HTTP, for the first time`, await timed(byHttp), "ms", null);
    if (hasRipgrep) {
      await evict(folder);
      report.value(`${name}: ripgrep, cold`, await timed(rg), "ms", null);
    }
    const sql: number[] = [];
    const { http, onDisk } = await interleave(
      {
        http: byHttp,
        sql: async () => sql.push(await ask(stack, keyHash, query)),
        onDisk: hasRipgrep ? rg : () => Promise.resolve(),
      },
      fewer(rounds, 5),
      3,
    );
    reportSql(report, name, sql, isSelective ? 10 : null);
    if (hasRipgrep) report.times(`${name}: over HTTP`, http, "ripgrep, warm", onDisk, null);
  }
}

/** Milliseconds that the statement takes inside the database, without the round trip. */
async function ask(stack: BenchStack, keyHash: string, query: unknown): Promise<number> {
  const [row] = await stack.sql<{ milliseconds: number }>(
    "select public.bench_search($1, $2::text::jsonb) as milliseconds",
    [keyHash, JSON.stringify(query)],
  );
  return row?.milliseconds ?? NaN;
}

function reportSql(report: Report, name: string, times: readonly number[], bar: number | null): void {
  const quartiles = [0.25, 0.75].map((share) => quantile(times, share).toFixed(1)).join(" to ");
  report.value(
    `${name}: in SQL (${quartiles})`,
    median(times),
    "ms",
    bar === null ? null : atMost(bar, "value"),
  );
}

/** Throws if ripgrep is not installed. Finding nothing is not an error. */
async function ripgrep(args: readonly string[]): Promise<void> {
  const { code, stderr } = await new Deno.Command("rg", { args: [...args], stdout: "null", stderr: "piped" })
    .output();
  if (code > 1) throw new Error(new TextDecoder().decode(stderr));
}

/** Removes these files from the system's page cache. */
async function evict(folder: string): Promise<void> {
  const script = `import os, sys
for where, _, names in os.walk(sys.argv[1]):
    for name in names:
        file = os.open(os.path.join(where, name), os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)`;
  const { success, stderr } = await new Deno.Command("python3", { args: ["-c", script, folder] }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

async function hasVectors(stack: BenchStack): Promise<boolean> {
  const [row] = await stack.sql<{ is_there: boolean }>("select filestore.search_has_vectors() as is_there");
  return row?.is_there === true;
}

/** Adds one vector for each text, near one of several centres, as texts cluster by subject. */
async function meaning(
  stack: BenchStack,
  { id, key }: Project,
  rounds: number,
  report: Report,
): Promise<void> {
  const before = await bytesOf(stack, ["search_chunks"]);
  const index = await stack.sql<{ definition: string }>(
    "select pg_get_indexdef(($1)::regclass) as definition",
    [`filestore.search_chunks_by_meaning_${DIMENSIONS}`],
  );
  await stack.script(`
    set local maintenance_work_mem = '1GB';
    select setseed(0.23);
    drop index filestore.search_chunks_by_meaning_${DIMENSIONS};
    create temp table centres on commit drop as
      select n, array_agg(random() - 0.5 order by d)::real[] as centre
      from generate_series(0, ${CENTRES - 1}) n, generate_series(1, ${DIMENSIONS}) d group by n;
    insert into filestore.search_chunks (
      project_id, file_id, hash, version, first_line, start, length, model, embedding)
      select t.project_id, t.file_id, t.file_id, t.version, 1, 0, t.bytes, '${MODEL}',
        array(select u.value + (random() - 0.5) * 0.8 from unnest(c.centre) with ordinality u (value, d) order by d)::real[]
      from (
        select *, row_number() over (order by path) % ${CENTRES} as n from filestore.search_texts
        where project_id = '${id}'
      ) t join centres c on c.n = t.n;
    ${index[0]?.definition}`);
  const bytes = await bytesOf(stack, ["search_chunks"]) - before;
  report.value(
    `space: a vector of ${DIMENSIONS} numbers, with its row and index`,
    bytes / sized(FILES),
    "B",
    null,
  );
  const [extension] = await stack.sql<{ schema: string }>(
    `select quote_ident(n.nspname) as schema
     from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`,
  );
  const schema = extension?.schema ?? "public";
  const queries = await stack.sql<{ embedding: number[]; content: string }>(
    `select k.embedding, c.content from filestore.search_chunks k
     join filestore.search_texts t using (project_id, file_id)
     join filestore.search_contents c on c.project_id = t.project_id and c.hash = t.content_hash
     where k.project_id = $1 order by k.hash limit $2`,
    [id, RECALL_QUERIES],
  );
  const random = randomFrom(SEED);
  const keyHash = await hashApiKey(key);
  const shares: number[] = [];
  const asked = queries.map(({ embedding, content }) => ({
    vector: embedding.map((value) => value + (random.below(1_000) / 1_000 - 0.5) * 0.8),
    // Some words of a text, both frequent and rare ones.
    words: content.split(/\s+/).slice(2, 5).join(" "),
  }));
  for (const { vector } of asked) {
    const query = { kind: "rank", vector, model: MODEL, directory: "" };
    const found = await stack.sql<{ file_id: string }>(
      `select file_id from filestore.search_rank_candidates($1, $2::text::jsonb)
       where list = 'meaning' order by score desc limit 10`,
      [id, JSON.stringify(query)],
    );
    const exact = await stack.sql<{ file_id: string }>(
      `select k.file_id from filestore.search_chunks k
       where k.project_id = $1
       -- Not the expression that the index has, so they are compared one by one.
       order by k.embedding::${schema}.vector operator(${schema}.<=>) ($2::text)::${schema}.vector limit 10`,
      [id, JSON.stringify(vector)],
    );
    const ids = new Set(exact.map(({ file_id }) => file_id));
    shares.push(found.filter(({ file_id }) => ids.has(file_id)).length / 10);
  }
  const recall = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  report.value("recall@10 of the index against all vectors", recall, "", atLeast(0.95, "value"));
  const times: number[] = [];
  for (let round = 0; round < Math.max(2 * RECALL_QUERIES, rounds); round++) {
    const query = { ...asked[round % asked.length], kind: "rank", model: MODEL };
    const milliseconds = await ask(stack, keyHash, {
      ...query,
      directory: "",
      files: 10,
      skip: 0,
      bytes: 4_000_000,
    });
    if (round >= RECALL_QUERIES) times.push(milliseconds);
  }
  reportSql(report, "hybrid, the query's vector given", times, 60);
}
