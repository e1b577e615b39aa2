/**
 * How large the product is, printed as a table. Four of its rows are bounded, since they say whether a reader finds the way:
 * SQL functions that are too long to be read at once, calls that lead to a later file, schema files that have the same number,
 * and limits that no code reads.
 */
import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listSchemas } from "../../supabase/local/database/generate_migration.ts";
import { SCHEMAS_DIRECTORY } from "../../supabase/local/repository.ts";
import { importGraph, reachable } from "../support/import_graph.ts";
import {
  calledFrom,
  linesOfSql,
  schemaFunctions,
  upwardCalls,
} from "../support/measures/schema_functions.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FUNCTION_LINES_MAX = 70;
/** What `filestore_commit` calls for several files, and not for one. */
const SEVERAL_FILES = [
  "commit_batch",
  "commit_planned",
  "commit_purge",
  "copy_file",
].map((name) => `filestore.${name}`);

Deno.test("measures: what is bounded stays within its bound, and all are printed", async () => {
  const functions = await schemaFunctions();
  assert(functions.size > 100);
  const long = [...functions.values()].filter(({ lines }) => lines > FUNCTION_LINES_MAX);
  const numbers = listSchemas().map((file) => file.slice(0, 2));
  const doubled = numbers.filter((number, index) => numbers.indexOf(number) !== index);
  const limits = await limitsOfTypeScript();
  const schemas = await Promise.all(
    listSchemas().map((file) => Deno.readTextFile(join(SCHEMAS_DIRECTORY, file))),
  );
  const commit = calledFrom(
    functions,
    ["public.filestore_commit"],
    SEVERAL_FILES,
  );
  const append = await appendPath();
  const tests = await linesBelow("tests", /\.(ts|tsx)$/);
  const decisions = await textsBelow("supabase/docs/decisions", /^\d.*\.md$/);

  const rows: readonly (readonly [string, ...(string | number)[]])[] = [
    [
      "SQL: lines of code, functions, tables",
      linesOfSql(schemas.join("\n")),
      functions.size,
      tables(schemas),
    ],
    ["SQL functions over 70 lines *", long.length],
    [
      "SQL calls of a function in a later file *",
      upwardCalls(functions).length,
    ],
    ["SQL files with the number of another one *", doubled.length],
    [
      "single-file commit in SQL: functions, lines",
      commit.length,
      sum(commit.map(({ lines }) => lines)),
    ],
    ["append in TypeScript: files, lines", append.files, append.lines],
    ["limits: in SQL, in TypeScript", await limitsOfSql(), limits.all.length],
    ["limits without a reader *", limits.unread.length],
    [
      "lines: functions/, console/src",
      await linesBelow("supabase/functions", /\.ts$/),
      await linesBelow("supabase/console/src", /\.(ts|tsx|css)$/),
    ],
    [
      "lines: tests, of them support/",
      tests,
      await linesBelow("tests/support", /\.(ts|tsx)$/),
    ],
    [
      "decisions, words",
      decisions.length,
      sum(decisions.map((text) => text.split(/\s+/).length)),
    ],
  ];
  const table = rows.map(([name, ...figures]) => `${name.padEnd(48)} ${figures.join(" ")}\n`);
  Deno.stdout.writeSync(new TextEncoder().encode(table.join("")));

  assertEquals(long.map(({ name }) => name), []);
  assertEquals(upwardCalls(functions), []);
  assertEquals(doubled, []);
  assertEquals(limits.unread, []);
});

/** The constants of `limits.ts`, and those that no code reads: neither the function's nor that which writes the documents. */
async function limitsOfTypeScript(): Promise<
  { all: string[]; unread: string[] }
> {
  const file = "supabase/functions/api/limits.ts";
  const source = await Deno.readTextFile(join(ROOT, file));
  const all = [...source.matchAll(/^export const (\w+)/gm)].map((
    [, name = ""],
  ) => name);
  assert(all.length > 50);
  const readers = new Set<string>();
  for (
    const folder of [
      "supabase/functions",
      "supabase/local",
      "supabase/docs/generator",
    ]
  ) {
    for (const text of await textsBelow(folder, /\.ts$/, [join(ROOT, file)])) {
      for (const [name] of text.matchAll(/\b[A-Z][A-Z0-9_]+\b/g)) {
        readers.add(name);
      }
    }
  }
  const own = source.replaceAll(/^export const \w+/gm, "");
  return {
    all,
    unread: all.filter((name) => !readers.has(name) && !new RegExp(`= .*\\b${name}\\b`).test(own)),
  };
}

async function limitsOfSql(): Promise<number> {
  const sql = await Deno.readTextFile(join(SCHEMAS_DIRECTORY, "01_limits.sql"));
  return sql.match(/^ {2}v_limits\.\w+ :=/gm)?.length ?? 0;
}

function tables(schemas: readonly string[]): number {
  return sum(
    schemas.map((sql) => sql.match(/^create (?:unlogged )?table /gm)?.length ?? 0),
  );
}

/** The files that the route of an append imports, without those imported for their types alone. */
async function appendPath(): Promise<{ files: number; lines: number }> {
  const root = join(ROOT, "supabase/functions/api");
  const sources = new Map<string, string>();
  for (const path of await pathsBelow(root, /\.ts$/)) {
    const source = await Deno.readTextFile(path);
    sources.set(
      path.slice(root.length + 1),
      source.replaceAll(/^import type [^]*?;$/gm, ""),
    );
  }
  const files = reachable(importGraph(sources), ["routes/append.ts"]);
  assert(files.length > 5);
  return {
    files: files.length,
    lines: sum(files.map((file) => lineCount(sources.get(file) ?? ""))),
  };
}

async function linesBelow(folder: string, pattern: RegExp): Promise<number> {
  return sum((await textsBelow(folder, pattern)).map(lineCount));
}

async function textsBelow(
  folder: string,
  pattern: RegExp,
  except: readonly string[] = [],
): Promise<string[]> {
  const paths = (await pathsBelow(join(ROOT, folder), pattern)).filter((path) => !except.includes(path));
  return await Promise.all(paths.map((path) => Deno.readTextFile(path)));
}

async function pathsBelow(folder: string, pattern: RegExp): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory && name !== "node_modules") {
      paths.push(...await pathsBelow(join(folder, name), pattern));
    } else if (pattern.test(name)) paths.push(join(folder, name));
  }
  return paths;
}

function lineCount(text: string): number {
  return text.split("\n").length - 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
