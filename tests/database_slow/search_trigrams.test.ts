/**
 * The index of trigrams misses no text, whatever its script: what a literal is looked up by is there of every text that
 * contains it. In a database that knows the letters of ASCII alone, as PGlite, and in those that know all, as hosted ones.
 */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { type Random, randomFrom, SEED } from "../support/random.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { type Json, makeProject } from "../support/postgres/postgres_filestore.ts";
import { connect, createMigrated, type Letters } from "../support/postgres/postgres_hosted.ts";
import { storeTexts } from "../support/postgres/search_texts.ts";
import { sqlNumber } from "../support/postgres/sql_number.ts";

const TRIGRAMS_MAX = sqlNumber("13_search_tables.sql", "c_numbers");

const TEXTS = 400;
/** Letters whose lower case is another one by where they stand, or longer, and what is a letter in some places only. */
const ALPHABET =
  "aAbBzZ09 \n-_%\\'é\u0301ÄßİıIſKΣσςΑαОдж中文字한글アｱกา٣𠀀𠀁😀\u200d\ufffeȺⱥ".match(/./gsu) ?? [];
const LETTERS: readonly Letters[] = ["ascii", "unicode", "unicode by ICU"];

const some = (random: Random, length: number) => Array.from({ length }, () => random.pick(ALPHABET)).join("");

/** Nearly all trigrams of small letters and digits. */
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
      // wor, ord and the end of `word`; all four of `and`; the beginning of `more`, mor and ore: it may go on.
      assertEquals(row?.within, 11);
      const numbers = new Set(row?.numbers);
      assert([...numbers].every((number) => number >= 0 && number < TRIGRAMS_MAX), `seed ${SEED}`);
      assert(numbers.size > TRIGRAMS_MAX / 4, `${numbers.size} numbers (seed ${SEED})`);
    });
  });
}

const FOUND: readonly (readonly [text: string, literals: readonly string[]])[] = [
  ["版本控制的文件存储，为智能体而做。", ["版本控制", "文件存储", "智能体", "存储，为智能体"]],
  ["Хранилище файлов с версиями", ["Хранилище", "файлов с верс", "версиями"]],
  ["버전 관리 파일 저장소", ["저장소", "관리 파일"]],
  ["größere Dateien, ΟΔΟΣ und İstanbul", ["größere", "ΟΔΟΣ", "ΟΔΟ", "İstanbul", "stanbul"]],
  ["------ !!! ……", ["------", "!!!", "……"]],
];

for (const letters of LETTERS) {
  Deno.test(`literals of any script are found in short and in shared texts: letters of ${letters}`, async () => {
    await inDatabase(letters, async (sql) => {
      const project = await makeProject(sql, "scripts");
      const texts = FOUND.flatMap(([text], n) => [
        { path: `${n}/long`, content: `${text}\n`.repeat(40) },
        { path: `${n}/short`, content: text },
      ]);
      for (const { path, content } of texts) {
        const [file] = await sql<{ id: string }[]>`
          insert into filestore.files (project_id, path, version, mime_type, size, segment_ids, created_at, updated_at)
          values (${project.id}, ${path}, 1, 'text/plain', 1, '{}', now(), now()) returning id`;
        await storeTexts(sql, [{ project, fileId: file?.id ?? "", path, content }]);
      }
      for (const [n, [, literals]] of FOUND.entries()) {
        for (const literal of literals) {
          const query: Json = {
            ...{ kind: "scan", clauses: [[literal]], caseSensitive: true, directory: "" },
            ...{ files: 11, skip: 0, bytes: 4_000_000 },
          };
          const [row] = await sql<{ answer: { value: { files: { file: { path: string } }[] } } }[]>`
            select public.filestore_search(${project.keyHash}, null, ${
            JSON.stringify(query)
          }::text::jsonb) as answer`;
          const found = row?.answer.value.files.map(({ file }) => file.path);
          assertEquals(found, [`${n}/long`, `${n}/short`], literal);
        }
      }
    });
  });
}
