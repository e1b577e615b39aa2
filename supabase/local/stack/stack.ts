/** The whole service on one machine: data folder, gateway, Supabase, function processes, console, demo project. */
import { Administration } from "../admin/administration.ts";
import { type Backend, startBackend } from "./backend.ts";
import type { Database } from "../database/database.ts";
import { ConsoleServer } from "../console/console_server.ts";
import { LOCAL_MODEL, LocalEmbeddings } from "./local_embeddings.ts";
import { openDataDirectory } from "./data_directory.ts";
import { giveToFirstAccount, openDemo } from "./demo.ts";
import { exists } from "../exists.ts";
import { functionCommand, ownVariables } from "./function_command.ts";
import { FunctionPool } from "./function_pool.ts";
import { LocalMail, type Mail } from "../local_mail.ts";
import { openGateway } from "./gateway.ts";
import { FUNCTION_ENTRY, MIGRATIONS_DIRECTORY } from "../repository.ts";
import { recordMigrations } from "./recorded_migrations.ts";
import { loadSecrets, type Secrets } from "./secrets.ts";
import { removeState, writeState } from "./state.ts";

/** On a local stack every account may create projects, unless the operator has decided otherwise. */
const LET_ANYONE_CREATE_PROJECTS = `do $$
begin
  if to_regclass('filestore.settings') is not null then
    update filestore.settings set project_makers = '{anyone}' where project_makers is null;
  end if;
end
$$`;

const SECRETS_LOST =
  "Creating new secrets, as secrets.json is missing: people sign in again, apps connect again, and webhooks pause until " +
  "their secrets are rotated";

export interface StackOptions {
  /** The folder of all persistent data. One stack at a time. */
  readonly dataDir: string;
  /** 0: any free port. */
  readonly port: number;
  /** URL of a Postgres server to use instead of PGlite. */
  readonly databaseUrl?: string | undefined;
  /**
   * Whether the settings of a back-end request are sent to Postgres in one statement, as PostgREST does, instead of a
   * dozen. Default false: benchmarks compare the service with bare calls to @supabase/lite as it is.
   */
  readonly joinsSettings?: boolean;
  /** Number of function processes, which get requests in round-robin order. Default 1. */
  readonly functionProcesses?: number;
  /** Runs the function on this Deno from npm, such as "2.1.4". Default: the Deno that runs the stack. */
  readonly denoVersion?: string | undefined;
  /** How long a function process may finish open requests and background work when the stack stops. Default 3,000. */
  readonly functionStopTimeoutMilliseconds?: number;
  /** Longest pause before a function process that ended is restarted; it doubles from 100. Default 5,000. */
  readonly functionRestartMaxMilliseconds?: number;
  /** Heap limit of a function process. */
  readonly memoryLimitMegabytes?: number;
  /** Variables of the function, such as its embeddings endpoint. Default: those of this process. */
  readonly functionVariables?: Readonly<Record<string, string>>;
  /** Whether the stack's own model embeds texts if no endpoint is set. Default false. */
  readonly embeddings?: boolean;
  /** SUPABASE_URL of the function, such as a proxy in front of the back end. Default: the back end. */
  readonly functionSupabaseUrl?: (backendUrl: string) => string | Promise<string>;
  /** The function and migrations to use instead of the repository's. */
  readonly functionEntry?: string;
  readonly migrationsDirectory?: string;
  /** Whether to create the demo project and its key. Default true. */
  readonly demo?: boolean;
  /** Called for each line that a function process prints. Default: dropped. */
  readonly onFunctionLog?: (line: string) => void;
  readonly onProgress?: (line: string) => void;
  /** Called for each mail that Auth would send. */
  readonly onMail?: (mail: Mail) => void;
}

export interface Stack {
  /** URL of the service: `http://127.0.0.1:PORT/functions/v1/api`. */
  readonly baseUrl: string;
  /** URL of the gateway: `http://127.0.0.1:PORT`. */
  readonly supabaseUrl: string;
  /** URL of @supabase/lite, to which the gateway proxies REST, Auth and Storage. */
  readonly backendUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  /** Key of the demo project; empty if the demo project does not exist. */
  readonly apiKey: string;
  /** The demo project's name, and its owner's e-mail address; null if there is no demo project. */
  readonly demo: { readonly name: string; readonly owner: string | null } | null;
  /** Ids of the function processes that are running. */
  readonly functionPids: readonly number[];
  /** Id of the process with the sentence model, once it has started. */
  readonly embeddingPids: readonly number[];
  /** Runs one statement as the owner of the database and returns its rows. */
  exec<Row = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** Runs a script of several statements in one transaction. */
  script(sql: string): Promise<void>;
  /** Ends all processes, closes the database and releases the data folder. May be called more than once. */
  stop(): Promise<void>;
}

/** Starts everything. If a part fails, the parts that were started are stopped. Throws `StartupError`. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const cleanups: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop()) await cleanup();
  };
  try {
    const data = await openDataDirectory(options.dataDir);
    cleanups.push(() => data.release());
    const onProgress = options.onProgress ?? (() => {});
    const gateway = await openGateway(options.port);
    cleanups.push(() => gateway.close());
    const upgrade = options.databaseUrl === undefined
      ? await recordMigrations(data, migrationsDirectoryOf(options), onProgress)
      : null;
    if (!await exists(data.secretsFile) && await exists(data.database)) onProgress(SECRETS_LOST);
    const secrets = await loadSecrets(data.secretsFile);
    const { storage, demoFile } = await data.of(options.databaseUrl);
    const mail = new LocalMail(options.onMail);
    let adopt = () => Promise.resolve();
    const backend = await startBackend({
      secrets,
      databaseDirectory: data.database,
      databaseUrl: options.databaseUrl,
      storageDirectory: storage,
      migrationsDirectory: migrationsDirectoryOf(options),
      joinsSettings: options.joinsSettings,
      onProgress,
      siteUrl: `${gateway.url}/console/`,
      mail,
      onAuth: () => adopt(),
    }).catch((error) => Promise.reject(upgrade?.failed(error) ?? error));
    cleanups.push(() => backend.close());
    await upgrade?.done();
    gateway.routes.backendUrl = backend.url;
    const variables = options.functionVariables ?? ownVariables();
    const embeddings = options.embeddings && variables["EMBEDDINGS_URL"] === undefined
      ? await LocalEmbeddings.start(options.onFunctionLog ?? (() => {}))
      : null;
    cleanups.push(() => embeddings?.stop());
    const functions = await startFunctions(options, secrets, backend, {
      CONSOLE_URL: `${gateway.url}/console`,
      ...variables,
      ...embeddings && { EMBEDDINGS_URL: embeddings.url, EMBEDDINGS_MODEL: LOCAL_MODEL },
    });
    cleanups.push(() => functions.stop());
    gateway.routes.functions = functions;
    const consoleServer = new ConsoleServer(secrets.publishableKey, mail);
    cleanups.push(() => consoleServer.close());
    gateway.routes.console = consoleServer;
    const administration = new Administration(backend.url, secrets.secretKey);
    await backend.database.query(LET_ANYONE_CREATE_PROJECTS);
    const demo = options.demo === false ? null : await openDemo(administration, demoFile);
    if (demo !== null) adopt = adoption(backend.database, demo.projectId);
    await adopt();
    const project = demo && await administration.findProject(demo.projectId);
    await writeState(data.stateFile, {
      supabaseUrl: gateway.url,
      secretKey: secrets.secretKey,
      apiKey: demo?.apiKey,
    });
    cleanups.push(() => removeState(data.stateFile));
    let stopped: Promise<void> | undefined;
    return {
      baseUrl: `${gateway.url}/functions/v1/api`,
      supabaseUrl: gateway.url,
      backendUrl: backend.url,
      publishableKey: secrets.publishableKey,
      secretKey: secrets.secretKey,
      apiKey: demo?.apiKey ?? "",
      demo: project && { name: project.name, owner: project.owner ?? project.ownerId },
      get functionPids() {
        return functions.pids;
      },
      get embeddingPids() {
        return embeddings?.pids ?? [];
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

/** Gives the demo project to the first account, as soon as one exists. If that fails, the request to Auth still succeeds. */
function adoption(database: Database, projectId: string): () => Promise<void> {
  let isOwned = false;
  return async () => {
    if (!isOwned) isOwned = await giveToFirstAccount(database, projectId).catch(() => false);
  };
}

async function startFunctions(
  options: StackOptions,
  secrets: Secrets,
  backend: Backend,
  variables: Readonly<Record<string, string>>,
): Promise<FunctionPool> {
  const command = await functionCommand({
    entry: options.functionEntry ?? FUNCTION_ENTRY,
    secrets,
    supabaseUrl: await options.functionSupabaseUrl?.(backend.url) ?? backend.url,
    databaseUrl: options.databaseUrl,
    denoVersion: options.denoVersion,
    memoryLimitMegabytes: options.memoryLimitMegabytes,
    ownVariables: variables,
  });
  options.onProgress?.("Starting the function");
  const functions = new FunctionPool(
    options.functionProcesses ?? 1,
    command,
    options.onFunctionLog ?? (() => {}),
    {
      stopTimeoutMilliseconds: options.functionStopTimeoutMilliseconds,
      restartMaxMilliseconds: options.functionRestartMaxMilliseconds,
    },
  );
  try {
    await functions.start();
    return functions;
  } catch (error) {
    await functions.stop();
    throw error;
  }
}
