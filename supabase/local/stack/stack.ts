/** The whole service on one machine: data folder, gateway, Supabase, function processes, demo project. */
import { Administration } from "../admin/administration.ts";
import { type Backend, startBackend } from "./backend.ts";
import { ConsoleServer } from "../console/console_server.ts";
import { type DataDirectory, openDataDirectory } from "./data_directory.ts";
import { demoKey } from "./demo.ts";
import { functionCommand, ownVariables } from "./function_command.ts";
import { FunctionPool } from "./function_pool.ts";
import { openGateway } from "./gateway.ts";
import { FUNCTION_ENTRY, MIGRATIONS_DIRECTORY } from "../repository.ts";
import { recordMigrations } from "./recorded_migrations.ts";
import { loadSecrets, type Secrets } from "./secrets.ts";
import { removeState, writeState } from "./state.ts";

export interface StackOptions {
  /** Everything that is remembered lives here. One stack at a time. */
  readonly dataDir: string;
  /** 0: any free port. */
  readonly port: number;
  /** A Postgres instead of PGlite. */
  readonly databaseUrl?: string | undefined;
  /** How many processes run the function; requests take turns. Default 1. */
  readonly functionProcesses?: number;
  /** Runs the function on this Deno from npm, such as "2.1.4". Default: the Deno that runs the stack. */
  readonly denoVersion?: string;
  /** Heap limit of a function process. */
  readonly memoryLimitMegabytes?: number;
  /** Variables of the function's own: of its embeddings endpoint, say. Default: those that are set here. */
  readonly functionVariables?: Readonly<Record<string, string>>;
  /** What the function gets as SUPABASE_URL: a proxy in front of the back end, say. Default: the back end. */
  readonly functionSupabaseUrl?: (backendUrl: string) => string | Promise<string>;
  /** Another function and other migrations than the repository's. */
  readonly functionEntry?: string;
  readonly migrationsDirectory?: string;
  /** Makes the demo project and its key. Default true. */
  readonly demo?: boolean;
  /** Lines that a function process writes. Default: dropped. */
  readonly onFunctionLog?: (line: string) => void;
  readonly onProgress?: (line: string) => void;
}

export interface Stack {
  /** Of the service: `http://127.0.0.1:PORT/functions/v1/api`. */
  readonly baseUrl: string;
  /** Of the gateway: `http://127.0.0.1:PORT`. */
  readonly supabaseUrl: string;
  /** Of @supabase/lite itself, which the gateway passes REST, Auth and Storage to. */
  readonly backendUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  /** Key of the demo project; empty without one. */
  readonly apiKey: string;
  /** Process ids of the function processes that run now. */
  readonly functionPids: readonly number[];
  /** Runs one statement as the database's owner and answers its rows. */
  exec<Row = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Runs a script of several statements in one transaction. */
  script(sql: string): Promise<void>;
  /** Ends every process, closes the database and frees the data folder. May be called again. */
  stop(): Promise<void>;
}

/** Starts everything; what was started is stopped again when a later part fails. Throws `StartupError`. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const cleanups: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop()) await cleanup();
  };
  try {
    const data = await openDataDirectory(options.dataDir);
    cleanups.push(() => data.release());
    if (options.databaseUrl === undefined) await recordMigrations(data, migrationsDirectoryOf(options));
    const gateway = await openGateway(options.port);
    cleanups.push(() => gateway.close());
    const secrets = await loadSecrets(data.secretsFile);
    const { storage, demoFile } = await data.of(options.databaseUrl);
    const backend = await openBackend(options, data, secrets, storage);
    cleanups.push(() => backend.close());
    gateway.routes.backendUrl = backend.url;
    const functions = await startFunctions(options, secrets, backend);
    cleanups.push(() => functions.stop());
    gateway.routes.functions = functions;
    const consoleServer = new ConsoleServer(secrets.publishableKey);
    cleanups.push(() => consoleServer.close());
    gateway.routes.console = consoleServer;
    const administration = new Administration(backend.url, secrets.secretKey);
    const apiKey = options.demo === false ? "" : await demoKey(administration, demoFile);
    await writeState(data.stateFile, { supabaseUrl: gateway.url, secretKey: secrets.secretKey });
    cleanups.push(() => removeState(data.stateFile));
    let stopped: Promise<void> | undefined;
    return {
      baseUrl: `${gateway.url}/functions/v1/api`,
      supabaseUrl: gateway.url,
      backendUrl: backend.url,
      publishableKey: secrets.publishableKey,
      secretKey: secrets.secretKey,
      apiKey,
      get functionPids() {
        return functions.pids;
      },
      exec: (sql, parameters) => backend.database.query(sql, parameters),
      script: (sql) => backend.database.script(sql),
      stop: () => stopped ??= stop(),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function migrationsDirectoryOf(options: StackOptions): string {
  return options.migrationsDirectory ?? MIGRATIONS_DIRECTORY;
}

function openBackend(
  options: StackOptions,
  data: DataDirectory,
  secrets: Secrets,
  storage: string,
): Promise<Backend> {
  return startBackend({
    secrets,
    databaseDirectory: data.database,
    databaseUrl: options.databaseUrl,
    storageDirectory: storage,
    migrationsDirectory: migrationsDirectoryOf(options),
    onProgress: options.onProgress ?? (() => {}),
  });
}

async function startFunctions(
  options: StackOptions,
  secrets: Secrets,
  backend: Backend,
): Promise<FunctionPool> {
  const command = await functionCommand({
    entry: options.functionEntry ?? FUNCTION_ENTRY,
    secrets,
    supabaseUrl: await options.functionSupabaseUrl?.(backend.url) ?? backend.url,
    databaseUrl: options.databaseUrl,
    denoVersion: options.denoVersion,
    memoryLimitMegabytes: options.memoryLimitMegabytes,
    ownVariables: options.functionVariables ?? ownVariables(),
  });
  options.onProgress?.("Starting the function");
  const functions = new FunctionPool(
    options.functionProcesses ?? 1,
    command,
    options.onFunctionLog ?? (() => {}),
  );
  try {
    await functions.start();
    return functions;
  } catch (error) {
    await functions.stop();
    throw error;
  }
}
