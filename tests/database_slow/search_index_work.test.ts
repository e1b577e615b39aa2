/**
 * The work of indexing a text depends on its size, not on its bytes: difficult text takes at most three times the
 * processor time of plain text. Measured on PGlite and on Postgres 17, whose locale knows the letters of all
 * scripts, as on a hosted project. TEST_LONG=1: more
 * texts, of 1 MB.
 */
import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import postgres from "postgres";
import { splitChunks } from "../../supabase/functions/api/search/chunks.ts";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { openPglite } from "../support/postgres/pglite.ts";
import { createMigrated } from "../support/postgres/postgres_hosted.ts";
import { IS_LONG } from "../support/runner/long.ts";

const BYTES = IS_LONG ? 1_000_000 : 300_000;
/** Indexed first, so that a text that takes quadratic time fails instead of running for hours. */
const FIRST_BYTES = 32_000;
const RATIO_MAX = 3;
const TRIES = 6;
const RANDOM_TEXTS = IS_LONG ? 100 : 6;
/** PGlite runs the same SQL, so the short form tries every fourth text there. */
const EVERY_ON_PGLITE = 4;

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
    `${BYTES} bytes of plain text: ${plainWork.toFixed(0)} ms of the processor; at most ${
      worst.ratio.toFixed(1)
    } times that: ${worst.name}`,
  );
}

Deno.test("any text is indexed within three times the work of plain text, on Postgres 17", async () => {
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

Deno.test("any text is indexed within three times the work of plain text, on PGlite", async () => {
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
