/**
 * The work of indexing a text depends on its size, not on its bytes: 1 MB of difficult text takes at most three times
 * the processor time of plain text. Measured on PGlite and on Postgres 17, whose locale knows the letters of all
 * scripts, as on a hosted project. TEST_LONG=1: more texts.
 */
import { btree_gin } from "@electric-sql/pglite/contrib/btree_gin";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { vector } from "@electric-sql/pglite/vector";
import { PGlite } from "@electric-sql/pglite";
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import { splitChunks } from "../../supabase/functions/api/search/chunks.ts";
import { MIGRATIONS_DIRECTORY } from "../../supabase/local/repository.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { createMigrated, listMigrations } from "../support/postgres/postgres_hosted.ts";
import { IS_LONG } from "../support/runner/long.ts";

const BYTES = 1_000_000;
/** Indexed first, so that a text that takes quadratic time fails instead of running for hours. */
const FIRST_BYTES = 32_000;
const RATIO_MAX = 3;
const TRIES = 3;
const RANDOM_TEXTS = IS_LONG ? 100 : 6;
/** PGlite runs the same SQL, so the short form tries every third text there. */
const EVERY_ON_PGLITE = 3;

/** Each text was once quadratic, or could be difficult for a parser, a sort or an index. */
const HARD = [
  ..."_ . - / @ ~/ :// & <!-- </ <a= <? &# 1 e1 +1 -1 1.1. .1 '".split(" ").map((motif) => `a${motif}`),
  ...["~/", "1e", "1.", "é-", "é_", ".", "-", "\n", "<", "\u0301", "a b ", `${"yi".repeat(500)} `],
];
const LETTERS = "aez19éж字_.-/@~:&<>!?#'\"=+%; \n".split("");

/** Returns a text of this number of bytes. */
type Text = (bytes: number) => string;

function repeated(motif: string): Text {
  const size = new TextEncoder().encode(motif).length;
  return (bytes) => motif.repeat(Math.ceil(bytes / size));
}

/** Random letters of a small alphabet, which form many different words. */
function mixed(random: Random, alphabet: readonly string[]): Text {
  return (bytes) => {
    let text = "";
    for (let size = 0; size < bytes;) {
      const letter = random.pick(alphabet);
      text += letter;
      size += letter < "\x80" ? 1 : letter < "\u0800" ? 2 : 3;
    }
    return text;
  };
}

function charactersOf(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, n) => String.fromCharCode(first + n));
}

function hardTexts(random: Random): [name: string, text: Text][] {
  const some = (count: number) => Array.from({ length: count }, () => random.pick(LETTERS));
  return [
    ...HARD.map((
      motif,
    ): [string, Text] => [`${JSON.stringify(motif.slice(0, 20))} repeated`, repeated(motif)]),
    ["different words", mixed(random, "abcdefghijklmnopqrstuvwxyz0123456789   ".split(""))],
    ["base64", mixed(random, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/".split(""))],
    ["Chinese characters", mixed(random, charactersOf(0x4e00, 0x9fa5))],
    ["letters of many alphabets", mixed(random, charactersOf(0xc0, 0x24f))],
    ...Array.from({ length: RANDOM_TEXTS }, (_, n): [string, Text] => {
      const letters = some(2 + random.below(5));
      return n % 2 === 0
        ? [`${JSON.stringify(letters.join(""))} repeated`, repeated(letters.join(""))]
        : [`letters of ${JSON.stringify(letters.join(""))}`, mixed(random, letters)];
    }),
  ];
}

/** Lines of words; frequent words occur far more often than rare ones, as in any language. */
function plainText(random: Random): Text {
  const word = () =>
    Array.from({ length: 2 + random.below(9) }, () => random.pick("etaoinshrdlucmfw".split(""))).join("");
  const words = Array.from({ length: 20_000 }, word);
  return (bytes) => {
    const text: string[] = [];
    for (let size = 0; size < bytes;) {
      const next = words[Math.floor(words.length ** (random.below(1_000_000) / 1_000_000)) - 1] ?? "";
      text.push(next, random.below(12) === 0 ? ".\n" : " ");
      size += next.length + 1;
    }
    return text.join("");
  };
}

/** Indexes a text as a new file. Returns the milliseconds of processor time. */
type Index = (text: string) => Promise<number>;

const NEW_FILE = `insert into filestore.files (
    project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
  select id, gen_random_uuid()::text, 1, 'text/plain', 1, '{}', now(), now() from filestore.projects
  returning project_id as "projectId", id as "fileId", path`;
const NEW_PROJECT = "insert into filestore.projects (name, tier) values ('p', 'enterprise')";
/** A text that another file has costs nothing, so each text must be new. */
const FORGET = "delete from filestore.search_texts";
const STORE = "select filestore.search_store_text($1::text::jsonb, null)";

function storedText(file: object, text: string): string {
  const content = text.replaceAll("\0", " ");
  const chunks = splitChunks(content).map(({ firstLine, start, length }) => [firstLine, start, length]);
  const rest = { version: 1, mimeType: "text/plain", isDeleted: false, skipped: null };
  return JSON.stringify({ ...file, ...rest, content, chunks });
}

async function assertBounded(index: Index, every = 1): Promise<void> {
  const random = randomFrom(SEED);
  const plain = plainText(random);
  const best = async (text: string, enough: number) => {
    let least = Infinity;
    for (let n = 0; n < TRIES && least > enough; n++) least = Math.min(least, await index(text));
    return least;
  };
  await index(plain(FIRST_BYTES));
  const plainWork = await best(plain(BYTES), 0);
  const firstWork = Math.max(await best(plain(FIRST_BYTES), 0), plainWork * FIRST_BYTES / BYTES);
  let worst = { ratio: 0, name: "" };
  for (const [name, text] of hardTexts(random).filter((_, n) => n % every === 0)) {
    for (const [bytes, base] of [[FIRST_BYTES, 3 * firstWork], [BYTES, plainWork]] as const) {
      const ratio = await best(text(bytes), RATIO_MAX * base) / base;
      assert(
        ratio <= RATIO_MAX,
        `${bytes} bytes, ${name}: ${ratio.toFixed(1)} times plain text (seed ${SEED})`,
      );
      if (bytes === BYTES && ratio > worst.ratio) worst = { ratio, name };
    }
  }
  // deno-lint-ignore no-console -- figures that the test was run for
  console.log(
    `1 MB of plain text: ${plainWork.toFixed(0)} ms of the processor; at most ${
      worst.ratio.toFixed(1)
    } times that: ${worst.name}`,
  );
}

Deno.test("1 MB of any text is indexed within three times the work of plain text, on Postgres 17", async () => {
  const server = await startPostgres();
  const database = await createMigrated(server, "search_index_work", "unicode");
  let work = 0;
  const onnotice = ({ detail }: postgres.Notice) => {
    const [, user, system] = /([\d.]+) s user, ([\d.]+) s system/.exec(detail ?? "") ?? [];
    work += (Number(user ?? 0) + Number(system ?? 0)) * 1000;
  };
  const sql = postgres(database.superuserUrl, { max: 1, onnotice });
  try {
    await sql.unsafe(NEW_PROJECT);
    await sql`set statement_timeout = '30s'`;
    await assertBounded(async (text) => {
      await sql.unsafe(FORGET);
      const [file] = await sql.unsafe(NEW_FILE);
      await sql`select set_config('log_statement_stats', 'on', false), set_config('client_min_messages', 'log', false)`;
      work = 0;
      await sql.unsafe(STORE, [storedText(file ?? {}, text)]);
      const milliseconds = work;
      await sql`select set_config('log_statement_stats', 'off', false)`;
      assert(milliseconds > 0, "Postgres told no statistics");
      return milliseconds;
    });
  } finally {
    await sql.end();
    await server.stop();
  }
});

Deno.test("no word is longer in lower case than it was measured: Postgres would write beyond it", async () => {
  const server = await startPostgres();
  const database = await createMigrated(server, "search_long_words", "unicode");
  const sql = postgres(database.superuserUrl, { max: 1, onnotice: () => {} });
  try {
    const longer = await sql`
      select to_hex(n) as letter from generate_series(1, 1114111) n
      cross join lateral filestore.search_split(chr(n)) s (text)
      where n not between 55296 and 57343
        and (select max(octet_length(l.lexeme)) from unnest(to_tsvector('simple', s.text)) l) > octet_length(s.text)`;
    assertEquals([...longer], []);
    for (const letters of [600, 700, 1000, 1023]) {
      const text = Array.from({ length: 40 }, (_, n) => `x${n}${"Ⱥ".repeat(letters)}`).join(" ");
      const [row] = await sql<{ words: number; query: number }[]>`
        select length((filestore.search_content_words(${text})).words) as words,
          numnode(filestore.search_tsquery(${text.slice(2, 2 + letters)})) as query`;
      assertEquals([letters, row?.words, row?.query], [letters, ...letters < 700 ? [40, 1] : [0, 0]]);
    }
  } finally {
    await sql.end();
    await server.stop();
  }
});

Deno.test("1 MB of any text is indexed within three times the work of plain text, on PGlite", async () => {
  const database = await openPglite();
  try {
    await database.exec(NEW_PROJECT);
    await assertBounded(async (text) => {
      await database.query(FORGET);
      const { rows: [file] } = await database.query<object>(NEW_FILE);
      const stored = storedText(file ?? {}, text);
      const before = process.cpuUsage();
      await database.query(STORE, [stored]);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    }, IS_LONG ? 1 : EVERY_ON_PGLITE);
  } finally {
    await database.close();
  }
});

/** A text, queries that find it, and queries that do not. */
const FOUND: readonly (readonly [text: string, found: readonly string[], notFound?: readonly string[]])[] = [
  ["mail ann.lee@example.com today", ["ann.lee@example.com", "example.com", "ann", "mail today"], [
    "lee.ann",
  ]],
  ["see https://example.com/docs/api?x=1", ["https://example.com/docs/api?x=1", "docs/api", "example.com"]],
  ["version 3.14.2 is -12 or +7", ["3.14.2", "3.14", "12", "version 3.14"], ["14.3", "version -12"]],
  ["a well-known state-of-the-art method", ["well-known", "known", "state-of-the-art", '"known state"']],
  ["const rate_limit = max_per_minute", ["rate_limit", "limit", '"rate limit"', "per_minute"], [
    "limit_rate",
  ]],
  ["in /usr/local/bin or ~/notes.md", ["/usr/local/bin", "local", "~/notes.md", "notes"], ["bin/local"]],
  ["<b class='x'>bold</b> &amp; List<String>", ["bold", "List<String>", "string"]],
  ["B&B and R&D", ["B&B", "R&D", "r&d B&B"], ["D&R"]],
  ["alpha beta", ["alpha -gamma", "gamma or beta", '"alpha beta"', "alphas"], [
    "alpha -beta",
    '"beta alpha"',
  ]],
  ["größer-kleiner ОДИН字", ["größer", "größer-kleiner", "kleiner"]],
];

Deno.test("words, names, addresses, numbers and paths are found as they are written, and by their parts", async () => {
  const database = await openPglite();
  try {
    for (const [text, found, notFound = []] of FOUND) {
      for (const query of [...found, ...notFound]) {
        const { rows: [row] } = await database.query<{ found: boolean }>(
          "select (filestore.search_content_words($1)).words @@ filestore.search_tsquery($2) as found",
          [text, query],
        );
        assertEquals(row?.found, found.includes(query), `${query} in ${text}`);
      }
    }
  } finally {
    await database.close();
  }
});

async function openPglite(): Promise<PGlite> {
  const database = await PGlite.create({ extensions: { vector, pg_trgm, btree_gin } });
  await database.exec(`
    create role anon; create role authenticated; create role service_role;
    create schema storage; create schema extensions;
    create table storage.buckets (id text primary key, name text, public boolean, file_size_limit bigint, allowed_mime_types text[])`);
  for (const file of listMigrations()) {
    await database.exec(await Deno.readTextFile(join(MIGRATIONS_DIRECTORY, file)));
  }
  return database;
}
