/**
 * Records the migrations of a data folder's database, and the release that applied them, in a file beside the database.
 * So the stack decides before it opens the database, which would already write to it, whether it uses the folder,
 * upgrades it, or refuses it.
 */
import { z } from "zod";
import { VERSION } from "../../functions/api/version.ts";
import { listMigrations } from "../database/migrations.ts";
import { exists } from "../exists.ts";
import { messageOf, StartupError } from "../startup_error.ts";
import type { DataDirectory } from "./data_directory.ts";
import { copyFolder } from "./folder_copy.ts";
import { readJsonFile, writeJsonFile } from "./json_file.ts";

/** The only release that recorded migrations without its version. */
const FIRST_RELEASE = "1.0.0";

const version = z.string().regex(/^\d+\.\d+\.\d+$/);
const recorded = z.object({
  release: version.default(FIRST_RELEASE),
  versions: z.array(z.string()).min(1),
  /** An upgrade that has begun and has not ended: the release before it, and the copy of the folder. */
  upgrade: z.object({ from: version, copy: z.string() }).optional(),
});

type Recorded = z.infer<typeof recorded>;
type Folder = Pick<DataDirectory, "path" | "database" | "migrationsFile">;

export interface Upgrade {
  /** Records that the database has all migrations. */
  done(): Promise<void>;
  /** The error of a start in which the database did not get them. */
  failed(error: unknown): StartupError;
}

/**
 * Records the migrations of `migrationsDirectory`, which the folder's database is about to get. Copies a folder of an
 * earlier release first, and returns its upgrade; null if there is nothing to upgrade. Throws `StartupError` without a
 * change if the folder belongs to a later release or to none, or cannot be copied.
 */
export async function recordMigrations(
  folder: Folder,
  migrationsDirectory: string,
  onProgress: (line: string) => void,
): Promise<Upgrade | null> {
  const versions = (await listMigrations(migrationsDirectory)).map((migration) => migration.version);
  const found = recorded.safeParse(await readJsonFile(folder.migrationsFile).catch(() => null)).data;
  if (!await exists(folder.database)) {
    await writeJsonFile(folder.migrationsFile, { release: VERSION, versions });
    return null;
  }
  if (found === undefined || !begins(versions, found.versions)) throw refusal(folder, versions, found);
  const isUpToDate = found.versions.length === versions.length && found.upgrade === undefined;
  return isUpToDate ? null : await upgrade(folder, versions, found, onProgress);
}

async function upgrade(
  { path, migrationsFile }: Folder,
  versions: readonly string[],
  found: Recorded,
  onProgress: (line: string) => void,
): Promise<Upgrade> {
  const from = found.upgrade?.from ?? found.release;
  // An upgrade that broke off is continued without another copy: the folder is no longer as it was.
  const copy = found.upgrade?.copy ?? await copied(path, from, onProgress);
  const copyText = await exists(copy) ? `a copy of it as it was is in ${copy}` : `its copy, ${copy}, is gone`;
  // Recorded before the first migration, so that the former release refuses the folder from now on.
  await writeJsonFile(migrationsFile, { release: VERSION, versions, upgrade: { from, copy } });
  onProgress(`Upgrading ${path} from release ${from} to ${VERSION}; ${copyText}`);
  return {
    done: () => writeJsonFile(migrationsFile, { release: VERSION, versions }),
    failed(error) {
      const remark =
        `The upgrade of ${path} from release ${from} has not ended; the next start tries again; ${copyText}.`;
      return new StartupError(`${messageOf(error)} ${remark}`);
    },
  };
}

/** Returns the path of the copy. */
async function copied(path: string, from: string, onProgress: (line: string) => void): Promise<string> {
  const time = new Date().toISOString().replace(/\.\d+/, "").replaceAll(/[-:]/g, "");
  const copy = `${path}-${from}-${time}`;
  onProgress(`Copying ${path}`);
  try {
    await copyFolder(path, copy);
  } catch (error) {
    throw new StartupError(
      `The data folder ${path} is of release ${from} and must be upgraded, but it cannot be copied to ${copy} ` +
        `(${messageOf(error)}). Nothing was changed. Make room there, or start it with release ${from}.`,
    );
  }
  return copy;
}

function refusal({ path }: Folder, versions: readonly string[], found: Recorded | undefined): StartupError {
  if (found !== undefined && begins(found.versions, versions)) {
    return new StartupError(
      `The data folder ${path} was made by release ${found.release} or later, and this is release ${VERSION}; ` +
        "start it with that release, or choose another folder with --data.",
    );
  }
  const reason = found === undefined
    ? "has no readable migrations.json, so it is not known which release it belongs to; take that file from a backup"
    : "was made by another version of this service, which this version cannot read; start it with that version";
  return new StartupError(`The data folder ${path} ${reason}, or choose another folder with --data.`);
}

function begins(all: readonly string[], first: readonly string[]): boolean {
  return first.every((one, index) => one === all[index]);
}
