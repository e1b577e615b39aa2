/**
 * A whole stack for tests: database, storage, gateway and the function in its own process, in a folder that is removed
 * with it, unless the test names its own. FUNCTION_DENO names another version of Deno for the function ("2.1.4"). With TEST_DATABASE=postgres the database is a real Postgres.
 */
import { join } from "node:path";
import { FUNCTION_ENTRY } from "../../../supabase/local/repository.ts";
import { functionCommand } from "../../../supabase/local/stack/function_command.ts";
import { FunctionProcess } from "../../../supabase/local/stack/function_process.ts";
import { loadSecrets, type Secrets } from "../../../supabase/local/stack/secrets.ts";
import { type Stack, type StackOptions, startStack } from "../../../supabase/local/stack/stack.ts";
import { eventually } from "../eventually.ts";
import { freshDataDirectory } from "./fresh_data_directory.ts";
import { kill } from "./processes.ts";
import { ownDatabase } from "./test_database.ts";

export interface TestStack {
  readonly stack: Stack;
  /** Lines that the function has logged so far. */
  readonly log: readonly string[];
  readonly dataDir: string;
  /** Secrets of the local Supabase, such as the one that signs tokens. */
  readonly secrets: Secrets;
  stop(): Promise<void>;
}

export async function startTestStack(options: Partial<StackOptions> = {}): Promise<TestStack> {
  const dataDir = options.dataDir ?? await freshDataDirectory();
  const database = await ownDatabase();
  const log: string[] = [];
  const close = async () => {
    await database?.stop();
    if (options.dataDir === undefined) await Deno.remove(dataDir, { recursive: true });
  };
  try {
    const stack = await startStack({
      dataDir,
      port: 0,
      demo: false,
      databaseUrl: database?.url,
      denoVersion: Deno.env.get("FUNCTION_DENO"),
      functionStopTimeoutMilliseconds: 0,
      functionRestartMaxMilliseconds: 100,
      joinsSettings: true,
      onFunctionLog: (line) => log.push(line),
      ...options,
    });
    const secrets = await loadSecrets(join(dataDir, "secrets.json"));
    const stop = async () => {
      await stack.stop();
      await close();
      // PGlite leaves its own exit code.
      Deno.exitCode = 0;
    };
    return { stack, log, dataDir, secrets, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Ends the processes of the function, and waits until the stack has started new ones. */
export async function restartFunction(
  baseUrl: string,
  pids: () => readonly number[] | Promise<readonly number[]>,
): Promise<void> {
  const before = await pids();
  for (const pid of before) kill(pid);
  await eventually("the function is back", async () => {
    const now = await pids();
    if (now.length !== before.length || now.some((pid) => before.includes(pid))) return false;
    const health = await fetch(`${baseUrl}/health`);
    await health.body?.cancel();
    return health.ok;
  });
}

/** A process of the function without a gateway in front of it. */
export interface BareFunction {
  readonly origin: string;
  /** The address below which its routes are. */
  readonly baseUrl: string;
  readonly pid: number;
  /** Ends the process at once. */
  stop(): Promise<void>;
}

export interface BareFunctionOptions {
  /** Default: the service's. */
  readonly entry?: string;
  /** Default: FUNCTION_DENO. */
  readonly denoVersion?: string;
  /** Further arguments of `deno run`. */
  readonly flags?: readonly string[];
  /** Variables that an operator sets. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly onLog?: (line: string) => void;
}

/** Starts a further process of the function, which reaches Supabase at that address. */
export async function startBareFunction(
  { secrets }: { readonly secrets: Secrets },
  supabaseUrl: string,
  {
    entry = FUNCTION_ENTRY,
    denoVersion = Deno.env.get("FUNCTION_DENO"),
    flags = [],
    variables = {},
    onLog = () => {},
  }: BareFunctionOptions = {},
): Promise<BareFunction> {
  const command = await functionCommand({
    entry,
    secrets,
    supabaseUrl,
    databaseUrl: undefined,
    denoVersion,
    memoryLimitMegabytes: undefined,
    ownVariables: variables,
  });
  const [run = "run", ...args] = command.args;
  const process = new FunctionProcess({
    command: { ...command, args: [run, ...flags, ...args] },
    onLog,
    onChange: () => {},
    stopTimeoutMilliseconds: 0,
  });
  await process.start();
  const origin = `http://127.0.0.1:${process.upstream?.port}`;
  return {
    origin,
    baseUrl: `${origin}/api`,
    // A process that has ended is started again.
    get pid() {
      return process.pid ?? NaN;
    },
    stop: () => process.stop(),
  };
}
