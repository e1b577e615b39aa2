/**
 * A whole stack for tests: database, storage, gateway and the function in its own process, in a folder that is removed
 * with it. The tests choose the proxy between the function and Supabase. FUNCTION_DENO names another version of Deno
 * for the function ("2.1.4"). With TEST_DATABASE=postgres the database is a real Postgres.
 */
import { join } from "node:path";
import { FUNCTION_ENTRY } from "../../../supabase/local/repository.ts";
import { type FunctionCommand, functionCommand } from "../../../supabase/local/stack/function_command.ts";
import { FunctionProcess } from "../../../supabase/local/stack/function_process.ts";
import { loadSecrets, type Secrets } from "../../../supabase/local/stack/secrets.ts";
import { type Stack, type StackOptions, startStack } from "../../../supabase/local/stack/stack.ts";
import { freshDataDirectory } from "./fresh_data_directory.ts";
import { ownDatabase } from "./test_database.ts";

/** A proxy between the function and Supabase. */
interface Proxy {
  /** The function's SUPABASE_URL. */
  readonly url: string;
  close(): Promise<void>;
}

export interface TestStack<P extends Proxy | null> {
  readonly stack: Stack;
  readonly proxy: P;
  /** Lines that the function has logged so far. */
  readonly log: readonly string[];
  readonly dataDir: string;
  /** Secrets of the local Supabase, such as the one that signs tokens. */
  readonly secrets: Secrets;
  stop(): Promise<void>;
}

/** `openProxy` opens the proxy in front of that address; if it returns null, there is no proxy. */
export async function startTestStack<P extends Proxy | null>(
  openProxy: (backendUrl: string) => P | Promise<P>,
  options: Partial<StackOptions> = {},
): Promise<TestStack<P>> {
  const dataDir = await freshDataDirectory();
  const database = await ownDatabase();
  const log: string[] = [];
  const opened: P[] = [];
  const close = async () => {
    await database?.stop();
    for (const proxy of opened) await proxy?.close();
    await Deno.remove(dataDir, { recursive: true });
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
      functionSupabaseUrl: async (backendUrl) => {
        const proxy = await openProxy(backendUrl);
        opened.push(proxy);
        return proxy?.url ?? backendUrl;
      },
      ...options,
    });
    const [proxy] = opened;
    if (proxy === undefined) throw new Error("the stack did not ask for the proxy");
    const secrets = await loadSecrets(join(dataDir, "secrets.json"));
    const stop = async () => {
      await stack.stop();
      await close();
      // PGlite leaves its own exit code.
      Deno.exitCode = 0;
    };
    return { stack, proxy, log, dataDir, secrets, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The command for an additional process of the function, which reaches Supabase at that address. */
export function commandOf(
  { secrets }: { readonly secrets: Secrets },
  supabaseUrl: string,
): Promise<FunctionCommand> {
  return functionCommand({
    entry: FUNCTION_ENTRY,
    secrets,
    supabaseUrl,
    databaseUrl: undefined,
    denoVersion: Deno.env.get("FUNCTION_DENO"),
    memoryLimitMegabytes: undefined,
  });
}

/** Starts a process of the function with nothing in front of it; stopping it ends the process at once. */
export async function startFunction(
  command: FunctionCommand,
  onLog: (line: string) => void = () => {},
): Promise<FunctionProcess> {
  const process = new FunctionProcess({ command, onLog, onChange: () => {}, stopTimeoutMilliseconds: 0 });
  await process.start();
  return process;
}
