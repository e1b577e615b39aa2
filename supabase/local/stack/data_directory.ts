/**
 * The folder with all persistent data of a local stack. One stack at a time: PGlite must not be opened twice,
 * so the process holds a lock on the folder. The operating system releases it when the process ends, for any reason.
 */
import { join, resolve } from "node:path";
import { messageOf, StartupError } from "../startup_error.ts";

/** The folder of the objects' bytes, of each database. */
export const STORAGE_FOLDER = "storage";

const LOCK_FILE = "lock";
const STATE_FILE = "state.json";
const REQUEST_LOG_FILE = "requests.log";

/** Files of the running stack, which no copy of the folder needs. */
export const LEFT_OUT_OF_COPIES: readonly string[] = [
  ...[LOCK_FILE, STATE_FILE, REQUEST_LOG_FILE],
  `${REQUEST_LOG_FILE}.1`,
];

export interface DataDirectory {
  readonly path: string;
  /** PGlite's files. */
  readonly database: string;
  /** The list of the database's migrations; see `recorded_migrations.ts`. */
  readonly migrationsFile: string;
  /** Keys of the local Supabase; `secrets.ts`. */
  readonly secretsFile: string;
  /** Address and secret key of the running stack, for the command line; `state.ts`. */
  readonly stateFile: string;
  /** The folder of one database's data: object bytes, and the demo project's id and key. */
  of(databaseUrl: string | undefined): Promise<{ readonly storage: string; readonly demoFile: string }>;
  /** Releases the lock of the folder. */
  release(): void;
}

/** Creates the folder if it is missing and takes its lock. Throws `StartupError` if either is impossible. */
export async function openDataDirectory(directory: string): Promise<DataDirectory> {
  const path = resolve(directory);
  const lock = await takeLock(path);
  return {
    path,
    database: join(path, "pglite"),
    migrationsFile: join(path, "migrations.json"),
    secretsFile: join(path, "secrets.json"),
    stateFile: stateFileOf(path),
    async of(databaseUrl) {
      const owner = databaseUrl === undefined
        ? path
        : join(path, `postgres-${await nameOfDatabase(databaseUrl)}`);
      await Deno.mkdir(owner, { recursive: true, mode: 0o700 });
      return { storage: join(owner, STORAGE_FOLDER), demoFile: join(owner, "demo.json") };
    },
    release: () => lock.close(),
  };
}

export function stateFileOf(directory: string): string {
  return join(resolve(directory), STATE_FILE);
}

/** The file of the function's log; see `request_log.ts`. */
export function requestLogFileOf(directory: string): string {
  return join(resolve(directory), REQUEST_LOG_FILE);
}

async function takeLock(path: string): Promise<Deno.FsFile> {
  let lock: Deno.FsFile;
  try {
    await Deno.mkdir(path, { recursive: true, mode: 0o700 });
    lock = await Deno.open(join(path, LOCK_FILE), { create: true, write: true, mode: 0o600 });
  } catch (error) {
    throw new StartupError(`The data folder ${path} cannot be written (${messageOf(error)}).`);
  }
  if (await lock.tryLock(true)) return lock;
  lock.close();
  throw new StartupError(
    `Another local stack uses the data folder ${path}; stop it, or choose another with --data.`,
  );
}

/** A stable name for host, port and database, without the password: object bytes belong to one database. */
async function nameOfDatabase(databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl);
  const identity = new TextEncoder().encode(`${url.hostname}:${url.port || "5432"}${url.pathname}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", identity));
  return digest.slice(0, 6).toHex();
}
