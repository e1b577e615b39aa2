/** The fixtures of released versions, as make.ts has written them. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { z } from "zod";
import { openDataDirectory } from "../../../supabase/local/stack/data_directory.ts";
import { type PostgresServer, SUPERUSER } from "../postgres/postgres.ts";
import { run } from "../program.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const ENDING = ".tar.br";
/** What was valid when a fixture was made is valid whenever it is used. */
const STILL_VALID = ["links", "app_tokens", "api_keys"].map((table) =>
  `update filestore.${table} set expires_at = now() + interval '1 day' where expires_at is not null;`
).join("");

/** The versions of the releases that have a fixture. */
export const RELEASES = [...Deno.readDirSync(FOLDER)]
  .flatMap(({ name }) => name.endsWith(ENDING) ? [name.slice(0, -ENDING.length)] : []).sort();
/** The oldest supported major version, whose dumps every maintained client can read. */
export const POSTGRES = 15;

const key = z.object({ projectId: z.string(), key: z.string() });
const manifest = z.object({
  /** One key each of the projects that agents have filled; the first is the largest. */
  keys: z.array(key),
  /** The owner of the project that has every other kind of row, and a key of it. */
  person: key.extend({ email: z.string(), password: z.string() }),
  /** Of an app that this person has allowed. */
  appToken: z.string(),
  /** The path of a link below the base address. */
  link: z.string(),
});
export type Manifest = z.infer<typeof manifest>;

/** An unpacked fixture. */
export interface Release {
  readonly version: string;
  readonly manifest: Manifest;
  /** The entry of the release's function. */
  readonly functionEntry: string;
  /** Creates a database with the release's rows on a server that has its roles. Returns its address. */
  restoreDatabase(server: PostgresServer, name: string): Promise<string>;
  /** Writes a data folder of a stack with that database: its objects and secrets. */
  restoreData(dataDir: string, databaseUrl: string): Promise<void>;
}

export function archiveOf(version: string): string {
  return join(FOLDER, `${version}${ENDING}`);
}

/** Unpacks the fixture of a release into the folder, and creates its roles on the server. */
export async function openRelease(version: string, folder: string, server: PostgresServer): Promise<Release> {
  const at = (name: string) => join(folder, name);
  await Deno.writeFile(at("archive.tar"), brotliDecompressSync(await Deno.readFile(archiveOf(version))));
  await run("tar", ["-xf", at("archive.tar"), "-C", folder]);
  const roles = await Deno.readTextFile(at("roles.sql"));
  await Deno.writeTextFile(at("roles.sql"), withoutSuperuser(roles));
  await run("psql", ["-qX", "-v", "ON_ERROR_STOP=1", "-f", at("roles.sql"), server.url]);
  return {
    version,
    manifest: manifest.parse(JSON.parse(await Deno.readTextFile(at("manifest.json")))),
    functionEntry: at("function/index.ts"),
    async restoreDatabase(server, name) {
      const url = await createDatabase(server, name);
      await run("psql", ["-qX", "-v", "ON_ERROR_STOP=1", "-f", at("database.sql"), "-c", STILL_VALID, url]);
      return url;
    },
    async restoreData(dataDir, databaseUrl) {
      const objects = await objectsOf(dataDir, databaseUrl);
      await Deno.remove(objects, { recursive: true }).catch(() => {});
      await run("cp", ["-r", at("objects"), objects]);
      await Deno.copyFile(at("secrets.json"), join(dataDir, "secrets.json"));
    },
  };
}

/** Returns the address of a new database. */
export async function createDatabase(server: PostgresServer, name: string): Promise<string> {
  await run("psql", ["-qX", "-c", `create database ${name}`, server.url]);
  return server.urlOf(SUPERUSER, name);
}

/** The folder where a stack with this database stores the objects. */
export async function objectsOf(dataDir: string, databaseUrl: string): Promise<string> {
  const data = await openDataDirectory(dataDir);
  try {
    return (await data.of(databaseUrl)).storage;
  } finally {
    data.release();
  }
}

/** The server that gets the roles has its superuser already. */
export function withoutSuperuser(roles: string): string {
  return roles.split("\n").filter((line) => !line.includes(`ROLE ${SUPERUSER}`)).join("\n");
}
