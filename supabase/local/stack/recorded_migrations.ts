/**
 * Which migrations the database of a data folder has, in a file beside it: a folder made by another version is refused
 * before its database is opened, which alone would write to it.
 */
import { z } from "zod";
import { listMigrations } from "../database/migrations.ts";
import { StartupError } from "../startup_error.ts";
import type { DataDirectory } from "./data_directory.ts";
import { readJsonFile, writeJsonFile } from "./json_file.ts";

const recorded = z.object({ versions: z.array(z.string()) });

/**
 * Records the migrations of `migrationsDirectory` as those of the folder's database, which is about to get them. Throws
 * `StartupError`, with nothing changed, where the database has others or was made before there was such a record.
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
