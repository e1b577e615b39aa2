/**
 * A request makes the database grow by at most 64 KB for each file that it writes, plus 6 times the size of its text.
 * Measured after a vacuum, as Postgres runs it by itself, without chunks, which exist only for vectors.
 */
import { assert, assertEquals } from "@std/assert";
import type postgres from "postgres";
import { PATH_BYTES_MAX, PATH_SEGMENTS_MAX } from "../../supabase/functions/api/limits.ts";
import {
  type Commit,
  commit,
  type CommitKind,
  type FileRecord,
  makeProject,
  type Project,
  valueOf,
} from "../support/postgres/postgres_filestore.ts";
import { storeTexts } from "../support/postgres/search_texts.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { connect, createMigrated, type Letters } from "../support/postgres/postgres_hosted.ts";
import { IS_LONG, rounds } from "../support/runner/long.ts";
import { sqlNumber } from "../support/postgres/sql_number.ts";

const SEARCH_SHARED_BYTES_MIN = sqlNumber("01_limits.sql", "search_shared_bytes_min");

const GROWTH_BYTES_MAX = 64 * 1024;
const FILES = 40;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const FOLDERS = PATH_SEGMENTS_MAX - 1;
/** Bytes of each name, including its slash. */
const NAME_BYTES = PATH_BYTES_MAX / PATH_SEGMENTS_MAX;

/** The longest path with the most names, all random, so that no part of it compresses. */
function longestPath(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(PATH_BYTES_MAX));
  const letters = Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length] ?? "");
  for (let folder = 1; folder <= FOLDERS; folder++) letters[folder * NAME_BYTES - 1] = "/";
  return letters.join("");
}

async function bytesOf(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ bytes: string }[]>`
    select sum(pg_total_relation_size(c.oid)) as bytes from pg_class c
    where c.relnamespace = 'filestore'::regnamespace and c.relkind = 'r'`;
  return Number(row?.bytes);
}

Deno.test("a file with the longest and deepest path, and a copy, take at most 64 KB of the database", async (t) => {
  const server = await startPostgres();
  const { superuserUrl } = await createMigrated(server, "growth");
  const sql = connect(superuserUrl, 1);
  try {
    const project = await makeProject(sql, "growth");
    valueOf(await commit(sql, project, "write", { path: "source", segments: [] }));
    const paths = Array.from({ length: FILES }, longestPath);
    assertEquals(
      new Set(paths.map((path) => `${path.length} ${path.split("/").length}`)),
      new Set([`${PATH_BYTES_MAX} ${PATH_SEGMENTS_MAX}`]),
    );
    for (
      const [what, write] of Object.entries({
        written: (path: string) => commit(sql, project, "write", { path, segments: [] }),
        copied: (destination: string) =>
          commit(sql, project, "copy", {
            path: "source",
            destination: destination.replace(/^./, "+"),
            segments: [],
          }),
      })
    ) {
      await t.step(what, async () => {
        const before = await bytesOf(sql);
        for (const path of paths) valueOf(await write(path));
        const grown = (await bytesOf(sql) - before) / FILES;
        assert(grown <= GROWTH_BYTES_MAX, `${Math.round(grown)} bytes`);
      });
    }
  } finally {
    await sql.end();
    await server.stop();
  }
});

const TEXT_FACTOR = 6;
const COPIES = rounds(10, 20);

const random = (alphabet: string) => (bytes: number) => {
  const numbers = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(numbers.subarray(at, at + 65_536));
  return Array.from(numbers, (number) => alphabet[number % alphabet.length] ?? "").join("");
};
/** Words of `letters` random letters, hardly any repeated. */
const words = (letters: number) => (bytes: number) =>
  random("abcdefghijklmnopqrstuvwxyz0123456789")(bytes).replaceAll(
    new RegExp(`(.{${letters}}).`, "g"),
    "$1 ",
  );

const TEXTS: Readonly<Record<string, (bytes: number) => string>> = {
  "one line over and over": (bytes) => "a line of words, more or less\n".repeat(bytes / 30),
  "random letters": random(`${LETTERS.slice(0, -2)}+/`),
  "words of four random letters": words(4),
  "words of eight random letters": words(8),
};

/** Letters of a range of code points, all equally likely. */
const letters = (first: number, last: number) => (bytes: number) => {
  const numbers = crypto.getRandomValues(new Uint32Array(16_384));
  const size = new TextEncoder().encode(String.fromCodePoint(first)).length;
  const letter = (n: number) => {
    const from = numbers[n % numbers.length] ?? 0;
    // Reuses the numbers of one call, in an order that does not repeat.
    const number = (from ^ Math.imul(n, 0x9e3779b1)) >>> 0;
    return String.fromCodePoint(first + number % (last - first + 1));
  };
  return Array.from({ length: Math.floor(bytes / size) }, (_, n) => letter(n)).join("");
};
const chinese = letters(0x4e00, 0x9fa5);

/** In most of these nearly every trigram is new, and a database whose locale knows the letters indexes them. */
const SCRIPTS: Readonly<Record<string, (bytes: number) => string>> = {
  "Chinese characters": chinese,
  "short words of Chinese characters": (bytes) => chinese(bytes * 6 / 7).replaceAll(/../gu, "$& "),
  "Hangul": letters(0xac00, 0xd7a3),
  "Cyrillic letters": letters(0x430, 0x44f),
  "words of Cyrillic letters": (bytes) => letters(0x430, 0x44f)(bytes * 8 / 9).replaceAll(/.{4}/gu, "$& "),
  "letters of many alphabets": letters(0xc0, 0x24f),
  "letters of four bytes": letters(0x20000, 0x2a6d0),
  "emoji": letters(0x1f300, 0x1f5ff),
  "letters and digits of ASCII": random("abcdefghijklmnopqrstuvwxyz0123456789"),
};

/** All sizes in the long form; in the short form each kind of text has one of them. */
function sizesOf(name: string, kinds: Readonly<Record<string, unknown>>): number[] {
  const sizes = [1_000_000, 100_000, 10_000];
  return sizes.filter((_, index) => IS_LONG || index === Object.keys(kinds).indexOf(name) % sizes.length);
}

interface Growing {
  readonly change: (
    kind: CommitKind,
    change: Omit<Commit, "segments">,
    content: string,
  ) => Promise<FileRecord>;
  /** Asserts that `work` adds no more than the limit for its number of files and its bytes of text. Returns the growth. */
  readonly assertGrowth: (
    what: string,
    files: number,
    textBytes: number,
    work: () => Promise<void>,
  ) => Promise<number>;
}

async function withGrowth(
  name: string,
  letters: Letters,
  work: (growing: Growing & { sql: postgres.Sql; project: Project }) => Promise<void>,
): Promise<void> {
  const server = await startPostgres();
  const { superuserUrl } = await createMigrated(server, name, letters);
  const sql = connect(superuserUrl, 1);
  try {
    const project = await makeProject(sql, "growth of texts");
    const tables = await sql<{ name: string }[]>`
      select relname as name from pg_class where relnamespace = 'filestore'::regnamespace and relkind = 'r'`;
    const settledBytes = async () => {
      for (const { name } of tables) await sql`vacuum filestore.${sql(name)}`;
      return await bytesOf(sql);
    };
    const change = async (kind: CommitKind, change: Omit<Commit, "segments">, content: string) => {
      const { file } = valueOf(await commit(sql, project, kind, { segments: [], ...change }));
      const { id: fileId, path, version } = file;
      assertEquals(await storeTexts(sql, [{ project, fileId, path, version, content }]), 1);
      return file;
    };
    const assertGrowth = async (
      what: string,
      files: number,
      textBytes: number,
      work: () => Promise<void>,
    ) => {
      const before = await settledBytes();
      await work();
      const grown = await settledBytes() - before;
      const most = files * GROWTH_BYTES_MAX + TEXT_FACTOR * textBytes;
      assert(grown <= most, `${what}: ${grown} bytes, at most ${most} may be`);
      return grown;
    };
    await work({ change, assertGrowth, sql, project });
  } finally {
    await sql.end();
    await server.stop();
  }
}

Deno.test("a text takes at most six times its bytes of the database, and its copies 64 KB each", async (t) => {
  await withGrowth("growth_of_texts", "ascii", async ({ change, assertGrowth, sql, project }) => {
    // The numbers of trigrams are entries of the index that all projects share, so they are added before.
    await change("write", { path: "trigrams" }, words(8)(1_000_000));

    for (const [name, make] of Object.entries(TEXTS)) {
      for (const bytes of sizesOf(name, TEXTS)) {
        const path = `${name}, ${bytes}`;
        const content = make(bytes);
        await t.step(path, async () => {
          // Several texts, since an index grows by whole pages.
          const texts = [content, ...Array.from({ length: 1_000_000 / bytes - 1 }, () => make(bytes))];
          await assertGrowth("written", texts.length, texts.length * bytes, async () => {
            for (const [n, text] of texts.entries()) {
              await change("write", { path: n === 0 ? path : `${n} ${path}` }, text);
            }
          });
          const copies: FileRecord[] = [];
          await assertGrowth("copied", COPIES, 0, async () => {
            for (let n = 0; n < COPIES; n++) {
              copies.push(await change("copy", { path, destination: `${path}/${n}` }, content));
            }
          });
          await assertGrowth("moved", 2 * COPIES, 0, async () => {
            for (const { id, path, version } of copies) {
              const moved = { path, destination: `${path} moved` };
              await change("move", moved, content);
              await storeTexts(sql, [{
                project,
                fileId: id,
                path,
                version: version + 1,
                content,
                isDeleted: true,
              }]);
            }
          });
          await assertGrowth("written again", COPIES, 0, async () => {
            for (let n = 0; n < COPIES; n++) await change("overwrite", { path }, content);
          });
          await change("overwrite", { path }, "short");
          await assertGrowth("restored, to and fro", COPIES, 0, async () => {
            for (let n = 0; n < COPIES; n++) {
              const version = n % 2 === 0 ? 1 : COPIES + 2;
              await change("restore", { path, version }, n % 2 === 0 ? content : "short");
            }
          });
        });
      }
    }
    for (const bytes of [SEARCH_SHARED_BYTES_MIN, SEARCH_SHARED_BYTES_MIN + 1, 1_000_000]) {
      await t.step(`a text of ${bytes} bytes, copied to the longest paths`, async () => {
        const path = `source of ${bytes}`;
        const content = words(4)(bytes);
        await change("write", { path }, content);
        const copy = async () => {
          for (let n = 0; n < COPIES; n++) {
            await change("copy", { path, destination: longestPath() }, content);
          }
        };
        // Runs before the measurement, since an index's list of pending entries grows once to a fixed size.
        await copy();
        await assertGrowth("copied", COPIES, 0, copy);
      });
    }
  });
});

Deno.test("so does a text of any script where the database knows the letters of all", async (t) => {
  await withGrowth("growth_of_scripts", "unicode", async ({ change, assertGrowth }) => {
    for (const [name, make] of Object.entries(SCRIPTS)) {
      for (const bytes of sizesOf(name, SCRIPTS)) {
        await t.step(`${name}, ${bytes}`, async () => {
          const texts = Array.from({ length: 1_000_000 / bytes }, () => make(bytes));
          const textBytes = texts.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
          // For large texts without the 64 KB of each file, which are for its rows.
          const files = bytes >= 100_000 ? 0 : texts.length;
          const grown = await assertGrowth("written", files, textBytes, async () => {
            for (const [n, text] of texts.entries()) {
              await change("write", { path: `${n} ${name}, ${bytes}` }, text);
            }
          });
          // deno-lint-ignore no-console -- figures that the test was run for
          console.log(
            `${name}, ${texts.length} of ${bytes}: ${(grown / textBytes).toFixed(2)} times their bytes`,
          );
        });
      }
    }
  });
});
