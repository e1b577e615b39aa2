/**
 * `text` and `regex` give the results of GNU grep on the same tree: every matching line of every file, and the column
 * of its first match. For broad queries only the first page is compared, with TEST_LONG=1 all pages. The files are
 * those of published packages, and difficult ones: long lines, lines across segments, CRLF, NUL, no last line feed,
 * characters beyond the basic plane.
 */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { dirname, join } from "node:path";
import { SEARCH_MATCHES_PER_FILE_MAX, SEARCH_TEXT_BYTES_MAX } from "../../supabase/functions/api/limits.ts";
import { Files } from "../support/client/files.ts";
import { inParallel } from "../support/in_parallel.ts";
import { packageFiles } from "../support/content/packages.ts";
import { IS_LONG, rounds } from "../support/runner/long.ts";
import { startPostgres } from "../support/postgres/postgres.ts";
import { randomNumbers } from "../support/random.ts";
import { indexed, search, searchAll } from "../support/client/search.ts";
import { withScratchDirectory } from "../support/scratch_directory.ts";
import { startService } from "../support/stack/service.ts";
import { test } from "../support/stack/suite.ts";

/** The short form takes every sixth file, since most are similar icons and lists. */
const EVERY = IS_LONG ? 1 : 6;
const FILES_LEAST = IS_LONG ? 1_000 : 150;
const QUERIES_LEAST = IS_LONG ? 200 : 150;
const AT_ONCE = 4;
const PAGE = IS_LONG ? 100 : 20;
/** The short form leaves out the 23 largest files, which contain more than half of all bytes. */
const TEXT_BYTES_MAX = IS_LONG ? SEARCH_TEXT_BYTES_MAX : 128 * 1024;

interface Query {
  readonly mode: "text" | "regex";
  readonly q: string;
  readonly caseSensitive: boolean;
}

const HARD: Readonly<Record<string, string>> = {
  "hard/long.txt": `start ${"abcdefghij ".repeat(9_000)}Zebra_7 ${"klmno ".repeat(500)}end`,
  "hard/crlf.txt": "first line\r\nsecond Zebra_7\r\n\r\nlast\r\n",
  "hard/nul.txt": "one\0two\nZebra_7\0\nthree\n",
  "hard/wide.txt": "😀 Zebra_7 ÉCLAIR\n日本語のテキスト😀Zebra_7\nstraße Große\n",
  "hard/empty.txt": "",
  // Larger than an indexed text, so each search reads it from Storage.
  "hard/large.txt": "a line of plain text é\n".repeat(50_000) + "Zebra_7\n",
  "hard/feeds.txt": "\n\n\nZebra_7\n\n",
  "hard/unended.txt": "a\nb\nZebra_7",
  "hard/special.txt": "a.b*c+d?(e)[f]{g}|h^i$j\\k\n50% of a_b\n'quoted' \"twice\"\n\ttab\n",
};

async function tree(): Promise<Map<string, string>> {
  const texts = new Map(Object.entries(HARD));
  for (const [index, { path, bytes }] of (await packageFiles()).entries()) {
    if (index % EVERY !== 0) continue;
    if (bytes.length > TEXT_BYTES_MAX || /\.(png|gif|wasm|jpg)$/.test(path)) continue;
    try {
      texts.set(path, new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    } catch { /* not text */ }
  }
  return texts;
}

const REGEXES = [
  ..."Zebra_7 ^Zebra 7$ ^$ ^[[:space:]]*$ [0-9]{4,} [A-Z]{6} \\w+_[0-9] (Zebra|Leaflet)".split(" "),
  ..."colou?r".split(" "),
  "^(import|export) ",
  ..."[.][a-z]+\\( é|É 😀.*7 .😀 ^.{120}$ ^.{0,2}$ a.b \\{g\\} []f[]".split(" "),
  "[^ -~]",
  ..."[[:upper:]][[:digit:]] [^[:alnum:][:space:][:punct:]] ^[^a-z]+$ (ab|cd)+e x{2}".split(" "),
  ..."function.*return \\$[a-z] ^.*;$ L\\.[A-Z][a-z]+ \\s\\S{30,}\\s ((a|b)c){2}".split(" "),
  ..."[[:alpha:]]{15,} z$|^z ß \\\\ [\\\\] a^b (^|,)Z".split(" "),
  "M[0-9.]+ [0-9.]+",
  'fill="#[0-9a-f]{3}"',
  ..."\\W{6} [[:xdigit:]]{8} [[:blank:]]$ (foo|bar|baz)[0-9]* e{,1}xtensions".split(" "),
  ..."[+-]?[0-9]+\\.[0-9]+e 本 テ.*ト".split(" "),
];

function queries(texts: ReadonlyMap<string, string>): Query[] {
  const numbers = randomNumbers(7);
  const random = (below: number) => numbers() % below;
  const bodies = [...texts.values()].filter((text) => text.length > 40);
  const piece = (length: number) => {
    for (;;) {
      const body = bodies[random(bodies.length)] ?? "";
      const found = body.slice(random(body.length)).slice(0, length).split("\n")[0] ?? "";
      // grep reads a pattern line by line, and a NUL ends an argument.
      if (found !== "" && found.isWellFormed() && !/[\0\r]/.test(found)) return found;
    }
  };
  const made: Query[] = [];
  for (let n = 0; n < rounds(30, 80); n++) {
    made.push({ mode: "text", q: piece(2 + random(30)), caseSensitive: n % 4 !== 0 });
  }
  for (const q of ["e", "Z", "%", "_", "\\", "a_b", "50%", "  ", "😀", "É", "é", "'", "$j", "Zebra_7"]) {
    made.push({ mode: "text", q, caseSensitive: true }, { mode: "text", q, caseSensitive: false });
  }
  for (const q of REGEXES) {
    made.push({ mode: "regex", q, caseSensitive: true }, { mode: "regex", q, caseSensitive: false });
  }
  for (let n = 0; n < rounds(15, 30); n++) {
    const words = [piece(12), piece(9)].map((word) => word.replace(/[^A-Za-z0-9 ]/g, "."));
    const [one = "x", two = "y"] = words.map((word) => word.trim() || "q");
    const q = [`${one}.*`, `^.*${one}`, `(${one}|${two})`, `${one}[^<]*${two}`, `${one}?`][n % 5] ?? one;
    made.push({ mode: "regex", q, caseSensitive: n % 3 !== 0 });
  }
  return made;
}

/** Maps path → line → column of the first match; null if the match is empty, since grep then reports no column. */
type Found = Record<string, Record<number, number | null>>;

/** The number of matching lines of each file, and the first of them, up to the number that an answer shows. */
interface Grepped {
  readonly counts: ReadonlyMap<string, number>;
  readonly lines: Found;
}

async function grep(folder: string, { mode, q, caseSensitive }: Query): Promise<Grepped> {
  const flags = [mode === "text" ? "-F" : "-E", ...(caseSensitive ? [] : ["-i"])];
  const run = async (...more: string[]) => {
    const { stdout, code, stderr } = await new Deno.Command("grep", {
      args: ["-r", "-a", "-Z", "-n", ...more, ...flags, "-e", q, "."],
      cwd: folder,
      env: { LC_ALL: "C.UTF-8" },
    }).output();
    // grep only warns of a stray backslash.
    assert(code < 2, new TextDecoder().decode(stderr));
    return stdout;
  };
  const counts = new Map<string, number>();
  for (const [, path = "", count] of new TextDecoder("latin1").decode(await run("-c")).matchAll(COUNT)) {
    if (Number(count) > 0) counts.set(path, Number(count));
  }
  const shown = ["-m", String(SEARCH_MATCHES_PER_FILE_MAX)];
  const lines: Found = {};
  for (const { path, fields } of records(await run(...shown), 1)) (lines[path] ??= {})[fields[0] ?? 0] = null;
  for (const { path, fields: [line = 0, offset = 0] } of records(await run(...shown, "-b", "-o"), 2)) {
    const ofFile = lines[path];
    if (ofFile && ofFile[line] === null) ofFile[line] = offset;
  }
  return { counts, lines };
}

/** `./path NUL count`, one a line. */
const COUNT = /^\.\/([^\0\n]+)\0(\d+)$/gm;

/**
 * `./path NUL number:number:text`, one a line. A text may contain NUL, so a record begins with `./` and one of the
 * paths.
 */
function* records(output: Uint8Array, numbers: number): Generator<{ path: string; fields: number[] }> {
  const text = new TextDecoder("latin1").decode(output);
  const pattern = new RegExp(`^\\./([^\\0\\n]+)\\0${"(\\d+):".repeat(numbers)}`, "gm");
  for (const [, path = "", ...fields] of text.matchAll(pattern)) yield { path, fields: fields.map(Number) };
}

/** Converts byte offsets to columns. */
function withColumns(found: Found, texts: ReadonlyMap<string, string>): Found {
  return Object.fromEntries(
    Object.entries(found).map(([path, lines]) => {
      const bytes = new TextEncoder().encode(texts.get(path) ?? "");
      const columns = Object.entries(lines).map(([line, offset]) => {
        if (offset === null) return [line, null];
        const start = bytes.lastIndexOf(0x0a, offset - 1) + 1;
        const lead = offset === 0
          ? ""
          : new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(start, offset));
        return [line, lead.length + 1];
      });
      return [path, Object.fromEntries(columns)];
    }),
  );
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Postgres indexes and searches these texts far faster than PGlite, with the same queries. */
const server = await startPostgres();
const service = await startService({ databaseUrl: server.url, functionProcesses: 2 });
Deno.test.afterAll(async () => {
  await service.stop();
  await server.stop();
});

test(`text and regex agree with grep over ${FILES_LEAST} files and ${QUERIES_LEAST} queries`, async () => {
  const project = await service.project("enterprise");
  const own = new Files(service, project.key);
  const texts = await tree();
  assert(texts.size >= FILES_LEAST, `${texts.size} files`);
  await withScratchDirectory(async (folder) => {
    for (const [path, text] of texts) {
      await Deno.mkdir(join(folder, dirname(path)), { recursive: true });
      await Deno.writeTextFile(join(folder, path), text);
    }
    await inParallel([...texts], AT_ONCE, async ([path, text]) => {
      // Some files are written in pieces that end anywhere, so that lines cross segments.
      const middle = path.length % 3 === 0 && text.length > 20 ? Math.floor(text.length / 2) : text.length;
      const cut = text.charCodeAt(middle) >= 0xdc00 && text.charCodeAt(middle) <= 0xdfff
        ? middle - 1
        : middle;
      await own.write(path, text.slice(0, cut), { contentType: "text/plain" });
      if (cut < text.length) await own.append(path, text.slice(cut));
    });
    await indexed(service, project.id);
    const asked = queries(texts);
    assert(asked.length >= QUERIES_LEAST, `${asked.length} queries`);
    let linesCompared = 0;
    await inParallel(asked, AT_ONCE, async (query) => {
      const options = { mode: query.mode, caseSensitive: query.caseSensitive, limit: PAGE };
      const [{ counts, lines: shown }, page] = await Promise.all([
        grep(folder, query),
        IS_LONG
          ? searchAll(own, query.q, options).then((results) => ({ results, hasMore: false }))
          : search(own, query.q, options),
      ]);
      const expected = withColumns(shown, texts);
      const { results } = page;
      const name = JSON.stringify(query);
      const paths = [...counts.keys()].sort(byBytes);
      assertEquals(page.hasMore, paths.length > results.length, name);
      assertEquals(
        Object.fromEntries(results.map(({ path, score }) => [path, score])),
        Object.fromEntries(
          paths.slice(0, page.hasMore ? PAGE : undefined).map((path) => [path, counts.get(path)]),
        ),
        name,
      );
      for (const { path, matches } of results) {
        const lines = Object.entries(expected[path] ?? {});
        linesCompared += lines.length;
        assertEquals(matches.map(({ line }) => line), lines.map(([line]) => Number(line)), `${name} ${path}`);
        for (const [index, [, column]] of lines.entries()) {
          if (column !== null) {
            assertEquals(matches[index]?.column, column, `${name} ${path}:${lines[index]?.[0]}`);
          }
        }
      }
    });
    const [size] = await service.sql<{ ratio: string | number }>(
      `select (pg_total_relation_size('filestore.search_texts') + pg_total_relation_size('filestore.search_contents')
         + pg_total_relation_size('filestore.search_chunks')) / sum(bytes)::float as ratio from filestore.search_texts`,
    );
    // deno-lint-ignore no-console -- a figure that the test was run for
    console.log(`the whole index takes ${Number(size?.ratio).toFixed(2)} times the content`);
    // deno-lint-ignore no-console -- a figure that the test was run for
    console.log(`${texts.size} files, ${asked.length} queries, ${linesCompared} lines compared`);
  });
});
