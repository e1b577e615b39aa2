/**
 * The size of the product, printed as a table. Four of its rows have bounds, because they decide whether a reader can find
 * the way: SQL functions too long to be read at once, calls to functions of later files, schema files with the same number,
 * and limits that no code reads.
 */
import { assert, assertEquals } from "@std/assert";
import { join, relative } from "node:path";
import { REPOSITORY } from "../support/stack/command.ts";
import { filesBelow } from "../support/files_below.ts";
import { importGraph, reachable } from "./import_graph.ts";
import { calledFrom, linesOfSql, readSchemas, schemaFunctions, upwardCalls } from "./schema_functions.ts";

const FUNCTION_LINES_MAX = 70;
/** Functions that `filestore_commit` calls for several files but not for one. */
const SEVERAL_FILES = ["commit_batch", "commit_planned", "commit_purge"]
  .map((name) => `filestore.${name}`);

const LIMITS = join(REPOSITORY, "supabase/functions/api/limits.ts");

type Row = readonly [name: string, ...figures: number[]];

Deno.test("measures: what is bounded stays within its bound, and all are printed", async () => {
  const schemas = await readSchemas();
  const functions = schemaFunctions(schemas);
  assert(functions.size > 100);
  const long = [...functions.values()].filter(({ lines }) => lines > FUNCTION_LINES_MAX);
  const numbers = [...schemas.keys()].map((file) => file.slice(0, 2));
  const doubled = numbers.filter((number, index) => numbers.indexOf(number) !== index);
  const unread = unreadLimits();

  print([
    ...sqlRows(schemas),
    ["SQL functions over 70 lines *", long.length],
    ["SQL calls of a function in a later file *", upwardCalls(functions).length],
    ["SQL files with the number of another one *", doubled.length],
    ["limits without a reader *", unread.length],
    ...otherRows(),
  ]);
  assertEquals(long.map(({ name }) => name), []);
  assertEquals(upwardCalls(functions), []);
  assertEquals(doubled, []);
  assertEquals(unread, []);
});

function print(rows: readonly Row[]): void {
  const table = rows.map(([name, ...figures]) => `${name.padEnd(48)} ${figures.join(" ")}\n`);
  Deno.stdout.writeSync(new TextEncoder().encode(table.join("")));
}

function sqlRows(schemas: ReadonlyMap<string, string>): Row[] {
  const sql = [...schemas.values()].join("\n");
  const functions = schemaFunctions(schemas);
  const commit = calledFrom(functions, ["public.filestore_commit"], SEVERAL_FILES);
  return [
    [
      "SQL: lines of code, functions, tables",
      linesOfSql(sql),
      functions.size,
      occurrences(sql, /^create (?:unlogged )?table /gm),
    ],
    [
      "single-file commit in SQL: functions, lines",
      commit.length,
      commit.reduce((total, { lines }) => total + lines, 0),
    ],
    ["limits in SQL", occurrences(schemas.get("01_limits.sql") ?? "", /^ {2}\d+ as \w+[,;]$/gm)],
  ];
}

function otherRows(): Row[] {
  const append = appendPath();
  const decisions = below("supabase/docs/decisions", /^\d.*\.md$/);
  return [
    ["limits in TypeScript", limits().length],
    ["append in TypeScript: files, lines", append.length, lineCount(append)],
    [
      "lines: functions/, console/src",
      lineCount(below("supabase/functions", /\.ts$/)),
      lineCount(below("supabase/console/src", /\.(ts|tsx|css)$/)),
    ],
    [
      "lines: tests, of them support/",
      lineCount(below("tests", /\.tsx?$/)),
      lineCount(below("tests/support", /\.tsx?$/)),
    ],
    ["decisions, words", decisions.length, occurrences(decisions.join("\n"), /\S+/g)],
  ];
}

/** Names of the constants of `limits.ts`. */
function limits(): string[] {
  const names = [...Deno.readTextFileSync(LIMITS).matchAll(/^export const (\w+)/gm)].map(([, name = ""]) =>
    name
  );
  assert(names.length > 50);
  return names;
}

/**
 * Returns the limits that no code reads, neither in the function, nor in the stack, nor in the generator of the documents.
 */
function unreadLimits(): string[] {
  const others = ["supabase/functions", "supabase/local", "supabase/docs/generator"]
    .flatMap((folder) => filesBelow(join(REPOSITORY, folder), /\.ts$/)).filter((path) => path !== LIMITS);
  const readers = new Set(
    others.flatMap((path) => Deno.readTextFileSync(path).match(/\b[A-Z][A-Z0-9_]+\b/g) ?? []),
  );
  // A limit may be computed from another limit.
  const values = Deno.readTextFileSync(LIMITS).replaceAll(/^export const \w+/gm, "");
  return limits().filter((name) => !readers.has(name) && !new RegExp(`= .*\\b${name}\\b`).test(values));
}

/** Returns the files that the route of an append imports, without type imports. */
function appendPath(): string[] {
  const root = join(REPOSITORY, "supabase/functions/api");
  const sources = new Map(
    filesBelow(root, /\.ts$/).map((path) => [
      relative(root, path),
      Deno.readTextFileSync(path).replaceAll(/^import type [^]*?;$/gm, ""),
    ]),
  );
  const files = reachable(importGraph(sources), ["routes/append.ts"]);
  assert(files.length > 5);
  return files.map((file) => sources.get(file) ?? "");
}

/** Returns the texts of the files below a folder of the repository. */
function below(folder: string, pattern: RegExp): string[] {
  return filesBelow(join(REPOSITORY, folder), pattern, ["node_modules"]).map((path) =>
    Deno.readTextFileSync(path)
  );
}

function lineCount(texts: readonly string[]): number {
  return occurrences(texts.join(""), /\n/g);
}

function occurrences(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
