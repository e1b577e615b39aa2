/**
 * Writes the initial migration: the files of `supabase/schemas`, one after the other. With `--check` it writes nothing
 * and fails if the migration differs from them.
 *
 * A second migration exists, so it refuses this here: the initial one no longer changes, later ones are written by hand,
 * and `tests/database_slow/schemas.test.ts` checks that schemas and migrations yield the same database. The tests of
 * mutants use it, in a copy with one migration.
 *
 *     deno run -A supabase/local/database/generate_migration.ts [--check]
 */
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { MIGRATIONS_DIRECTORY, SCHEMAS_DIRECTORY } from "../repository.ts";

export const INITIAL_MIGRATION = "20261122000000_initial.sql";

const HEADER =
  `-- Generated from supabase/schemas by supabase/local/database/generate_migration.ts: read and edit the files there.
`;

/** Names of the schema files in the order in which they are applied. */
export function listSchemas(): string[] {
  return namesOfSql(SCHEMAS_DIRECTORY);
}

/** The text of the initial migration, built from the present schemas. */
export async function initialMigration(): Promise<string> {
  const files = await Promise.all(
    listSchemas().map(async (name) => {
      const text = await Deno.readTextFile(join(SCHEMAS_DIRECTORY, name));
      return `${`-- ${name} `.padEnd(119, "=")}\n${text}`;
    }),
  );
  return HEADER + files.join("");
}

/** Whether the initial migration is still generated, which ends when a second migration exists. */
export function isGenerated(migrations: readonly string[]): boolean {
  return migrations.every((name) => name === INITIAL_MIGRATION);
}

function namesOfSql(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map((entry) => entry.name).filter((name) => name.endsWith(".sql"))
    .sort();
}

/** Returns what to print and the exit code. */
async function main(isCheck: boolean): Promise<{ text: string; code: number }> {
  const file = join(MIGRATIONS_DIRECTORY, INITIAL_MIGRATION);
  if (!isGenerated(namesOfSql(MIGRATIONS_DIRECTORY))) {
    const text = `${
      basename(file)
    } has later migrations, so it must not be generated again: write a new migration by hand.`;
    return { text, code: isCheck ? 0 : 1 };
  }
  const expected = await initialMigration();
  const found = await Deno.readTextFile(file).catch(() => "");
  if (found === expected) return { text: `${basename(file)} is up to date.`, code: 0 };
  if (isCheck) {
    return { text: `${basename(file)} differs from supabase/schemas: generate it again.`, code: 1 };
  }
  await Deno.writeTextFile(file, expected);
  return { text: `${basename(file)} is written.`, code: 0 };
}

if (import.meta.main) {
  const { values } = parseArgs({ args: Deno.args, options: { check: { type: "boolean" } } });
  const { text, code } = await main(values.check ?? false);
  await Deno.stdout.write(new TextEncoder().encode(`${text}\n`));
  Deno.exitCode = code;
}
