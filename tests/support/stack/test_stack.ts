/**
 * A whole stack for tests: database, storage, gateway and the function in a process of its own, in a folder that is
 * removed with it. What stands between the function and Supabase is up to the tests.
 *
 * FUNCTION_DENO is the version of another Deno to run the function on ("2.1.4"). With TEST_DATABASE=postgres the database
 * is a real Postgres.
 */
import { join } from "node:path";
import { FUNCTION_ENTRY } from "../../../supabase/local/repository.ts";
import { type FunctionCommand, functionCommand } from "../../../supabase/local/stack/function_command.ts";
import { FunctionProcess } from "../../../supabase/local/stack/function_process.ts";
import { loadSecrets, type Secrets } from "../../../supabase/local/stack/secrets.ts";
import { type Stack, type StackOptions, startStack } from "../../../supabase/local/stack/stack.ts";
import { freshDataDirectory } from "./fresh_data_directory.ts";
import { ownDatabase } from "./test_database.ts";

/** Stands between the function and Supabase. */
interface Proxy {
  /** What the function knows as SUPABASE_URL. */
  readonly url: string;
  close(): Promise<void>;
}

export interface TestStack<P extends Proxy | null> {
  readonly stack: Stack;
  readonly proxy: P;
  /** Lines that the function has logged so far. */
  readonly log: readonly string[];
  readonly dataDir: string;
  /** Of the local Supabase: what tokens are signed with, for one. */
  readonly secrets: Secrets;
  stop(): Promise<void>;
}

/** `openProxy` makes the proxy in front of that address; one that is null is left out. */
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
      // PGlite leaves a code of its own there.
      Deno.exitCode = 0;
    };
    return { stack, proxy, log, dataDir, secrets, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

/** How one more process of the function is started, which knows Supabase by that address. */
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

/** Starts a process of the function that nothing stands in front of, and that ends at once when it is stopped. */
export async function startFunction(
  command: FunctionCommand,
  onLog: (line: string) => void = () => {},
): Promise<FunctionProcess> {
  const process = new FunctionProcess({ command, onLog, onChange: () => {}, stopTimeoutMilliseconds: 0 });
  await process.start();
  return process;
}
