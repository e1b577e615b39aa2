/**
 * Records the migrations of a data folder's database in a file beside it. So the stack refuses a folder of another
 * version before it opens the database, which would already write to it.
 */
import { z } from "zod";
import { listMigrations } from "../database/migrations.ts";
import { StartupError } from "../startup_error.ts";
import type { DataDirectory } from "./data_directory.ts";
import { readJsonFile, writeJsonFile } from "./json_file.ts";

const recorded = z.object({ versions: z.array(z.string()) });

/**
 * Records the migrations of `migrationsDirectory`, which the folder's database is about to get. Throws `StartupError`
 * without a change if the database has other migrations, or no record.
 */
export async function recordMigrations(
  { path, database, migrationsFile }: Pick<DataDirectory, "path" | "database" | "migrationsFile">,
  migrationsDirectory: string,
): Promise<void> {
  const versions = (await listMigrations(migrationsDirectory)).map(({ version }) => version);
  const found = recorded.safeParse(await readJsonFile(migrationsFile).catch(() => null)).data?.versions;
  if (await exists(database) && !(found?.every((version) => versions.includes(version)) ?? false)) {
    throw new StartupError(
      `The data folder ${path} was made by another version of this service, which this version cannot read; ` +
        "move it away or delete it, or choose another with --data.",
    );
  }
  if (found?.length !== versions.length) await writeJsonFile(migrationsFile, { versions });
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
