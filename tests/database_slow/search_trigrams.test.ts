/**
 * The index of trigrams misses no text in any script: every text that contains a literal has the trigrams by which the
 * literal is looked up. Tested in a database whose locale knows only ASCII letters, like PGlite, and in those that know
 * all letters, like hosted ones.
 */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated, type Letters } from "../support/postgres/postgres_hosted.ts";
import { sqlNumber } from "../support/postgres/sql_number.ts";

const TRIGRAMS_MAX = sqlNumber("13_search_tables.sql", "c_numbers");

const TEXTS = 400;
/**
 * Letters whose lower case depends on their position or is longer, and characters that only some locales treat as
 * letters.
 */
const ALPHABET =
  "aAbBzZ09 \n-_%\\'é\u0301ÄßİıIſKΣσςΑαОдж中文字한글アｱกา٣𠀀𠀁😀\u200d\ufffeȺⱥ".match(/./gsu) ?? [];
const LETTERS: readonly Letters[] = ["ascii", "unicode", "unicode by ICU"];

const some = (random: Random, length: number) => Array.from({ length }, () => random.pick(ALPHABET)).join("");

/** Contains nearly all trigrams of small letters and digits. */
const manyTrigrams = (random: Random) =>
  Array.from({ length: 150_000 }, () => random.below(36).toString(36)).join("");

async function inDatabase(letters: Letters, work: (sql: postgres.Sql) => Promise<void>): Promise<void> {
  const server = await startPostgres();
  const { superuserUrl } = await createMigrated(server, "search_trigrams", letters);
  const sql = connect(superuserUrl, 1);
  try {
    await work(sql);
  } finally {
    await sql.end();
    await server.stop();
  }
}

for (const letters of LETTERS) {
  Deno.test(`a text has every trigram that a part of it is looked up by: letters of ${letters}`, async () => {
    await inDatabase(letters, async (sql) => {
      const random = randomFrom(SEED);
      const cases = Array.from({ length: TEXTS }, () => {
        const text = some(random, 3 + random.below(40));
        const characters = [...text];
        const from = random.below(characters.length);
        return { text, part: characters.slice(from, from + 1 + random.below(12)).join("") };
      });
      const missed = await sql`
        select c.text, c.part from jsonb_to_recordset(${
        JSON.stringify(cases)
      }::text::jsonb) c (text text, part text)
        where not filestore.search_trigrams(c.text) @> filestore.search_trigrams_within(c.part)`;
      assertEquals([...missed], [], `seed ${SEED}`);
      const [row] = await sql<{ within: number; numbers: number[] }[]>`
        select cardinality(filestore.search_trigrams_within('word and more')) as within,
          filestore.search_trigrams(${manyTrigrams(random)}) as numbers`;
      // `wor`, `ord` and the end of `word`; all four of `and`; the beginning of `more`, `mor` and `ore`: the word may
      // continue.
      assertEquals(row?.within, 11);
      const numbers = new Set(row?.numbers);
      assert([...numbers].every((number) => number >= 0 && number < TRIGRAMS_MAX), `seed ${SEED}`);
      assert(numbers.size > TRIGRAMS_MAX / 4, `${numbers.size} numbers (seed ${SEED})`);
    });
  });
}
