/**
 * A stack in a process of its own, so that it shares no event loop with the process that measures it. It also serves
 * the bare calls from inside a function, behind a separate gateway. Its parent reads one line of JSON from standard
 * output, sends SQL over HTTP, and closes standard input to end it. Usage: stack_process.ts OPTIONS_AS_JSON
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { functionCommand } from "../../supabase/local/stack/function_command.ts";
import { FunctionPool } from "../../supabase/local/stack/function_pool.ts";
import { openGateway } from "../../supabase/local/stack/gateway.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import { startStack } from "../../supabase/local/stack/stack.ts";
import { printLine } from "../../supabase/local/cli/command_line.ts";

export interface StackProcessOptions {
  readonly dataDir: string;
  readonly migrationsDirectory: string;
  readonly databaseUrl: string | undefined;
  /** Variables of the function, such as its embeddings endpoint. */
  readonly functionVariables?: Readonly<Record<string, string>>;
}

/** The line of JSON that the parent reads. */
export interface StackAddresses {
  readonly baseUrl: string;
  readonly supabaseUrl: string;
  readonly backendUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  /** Address of the function that sends the bare calls. */
  readonly bareFunctionUrl: string;
  readonly controlUrl: string;
}

if (import.meta.main) await main(JSON.parse(Deno.args[0] ?? "{}"));

async function main(options: StackProcessOptions): Promise<void> {
  const stack = await startStack({ ...options, port: 0, demo: false });
  const { backendUrl } = stack;
  const gateway = await openGateway(0);
  const command = await functionCommand({
    entry: fileURLToPath(new URL("./bare_function.ts", import.meta.url)),
    secrets: await loadSecrets(join(options.dataDir, "secrets.json")),
    supabaseUrl: backendUrl,
    databaseUrl: undefined,
    denoVersion: undefined,
    memoryLimitMegabytes: undefined,
  });
  const bare = new FunctionPool(1, command, () => {});
  await bare.start();
  gateway.routes.functions = bare;
  const control = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/pids") return Response.json(stack.functionPids);
    const { sql, parameters } = await request.json();
    try {
      if (pathname === "/script") return Response.json(await stack.script(sql) ?? null);
      return Response.json(await stack.exec(sql, parameters));
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error), { status: 500 });
    }
  });
  const addresses: StackAddresses = {
    baseUrl: stack.baseUrl,
    supabaseUrl: stack.supabaseUrl,
    backendUrl,
    publishableKey: stack.publishableKey,
    secretKey: stack.secretKey,
    bareFunctionUrl: `${gateway.url}/functions/v1/api`,
    controlUrl: `http://127.0.0.1:${control.addr.port}`,
  };
  printLine(JSON.stringify(addresses));
  const reader = Deno.stdin.readable.getReader();
  while (!(await reader.read()).done);
  await bare.stop();
  await gateway.close();
  await stack.stop();
  Deno.exit(0);
}
