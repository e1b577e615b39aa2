/** The SQL functions of `supabase/schemas`: their files, their lengths and the functions that they call. */
import { join } from "node:path";
import { SCHEMAS_DIRECTORY } from "../../supabase/local/repository.ts";
import { listSchemas } from "../support/postgres/schemas.ts";

export interface SchemaFunction {
  readonly name: string;
  /** Its file in `supabase/schemas`. */
  readonly file: string;
  /** From `create` to the end of its body. */
  readonly lines: number;
  /** Names of the functions that its body calls, itself excluded. */
  readonly calls: readonly string[];
}

/** The text of each file of `supabase/schemas`, in the order of application. */
export async function readSchemas(): Promise<ReadonlyMap<string, string>> {
  const schemas = new Map<string, string>();
  for (const file of listSchemas()) schemas.set(file, await Deno.readTextFile(join(SCHEMAS_DIRECTORY, file)));
  return schemas;
}

/** All functions by name, in the order of creation. */
export function schemaFunctions(schemas: ReadonlyMap<string, string>): ReadonlyMap<string, SchemaFunction> {
  const texts = new Map<string, { file: string; text: string }>();
  for (const [file, sql] of schemas) {
    for (const [text, name = ""] of sql.matchAll(FUNCTION)) texts.set(name, { file, text });
  }
  return new Map(
    [...texts].map(([name, { file, text }]) => {
      const called = [...withoutComments(text).matchAll(CALL)].map(([, callee = ""]) => callee);
      const calls = [...new Set(called)].filter((callee) => callee !== name && texts.has(callee));
      return [name, { name, file, lines: text.split("\n").length, calls }];
    }),
  );
}

/**
 * These functions and all that they call, directly or indirectly, without `except` and the functions that only those
 * call.
 */
export function calledFrom(
  functions: ReadonlyMap<string, SchemaFunction>,
  names: readonly string[],
  except: readonly string[] = [],
): SchemaFunction[] {
  const reached = new Map<string, SchemaFunction>();
  const visit = (name: string) => {
    const found = functions.get(name);
    if (!found || reached.has(name) || except.includes(name)) return;
    reached.set(name, found);
    found.calls.forEach(visit);
  };
  names.forEach(visit);
  return [...reached.values()];
}

/** Calls of a function that a later file defines, as `file: name → file: name`. */
export function upwardCalls(functions: ReadonlyMap<string, SchemaFunction>): string[] {
  return [...functions.values()].flatMap(({ name, file, calls }) =>
    calls.map((callee) => functions.get(callee))
      .filter((callee) => callee !== undefined && callee.file > file)
      .map((callee) => `${file}: ${name} → ${callee?.file}: ${callee?.name}`)
  );
}

/** Lines of code: without comments, blank lines, `comment on`, grants and revokes. */
export function linesOfSql(text: string): number {
  const code = withoutComments(text.replaceAll(/^(?:comment on|call|grant|revoke)\b[^]*?;$/gm, ""));
  return code.split("\n").filter((line) => line.trim() !== "").length;
}

const FUNCTION = /^create (?:or replace )?function (\w+\.\w+)\([^]*?\$(\w*)\$[^]*?\$\2\$/gm;
const CALL = /\b((?:filestore|public)\.\w+)\s*\(/g;

function withoutComments(sql: string): string {
  return sql.replaceAll(/^\s*--.*$/gm, "");
}
