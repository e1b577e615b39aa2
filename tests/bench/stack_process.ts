/** The stack to be measured, with a separate gateway for the function that sends the bare calls. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { functionCommand } from "../../supabase/local/stack/function_command.ts";
import { FunctionPool } from "../../supabase/local/stack/function_pool.ts";
import { openGateway } from "../../supabase/local/stack/gateway.ts";
import { loadSecrets } from "../../supabase/local/stack/secrets.ts";
import type { StackOptions } from "../../supabase/local/stack/stack.ts";
import type { StackAddresses } from "../support/stack/stack_child.ts";
import { serveStack } from "../support/stack/stack_process.ts";

export interface BenchAddresses extends StackAddresses {
  /** Address of the function that sends the bare calls. */
  readonly bareFunctionUrl: string;
}

if (import.meta.main) {
  const options: StackOptions = JSON.parse(Deno.args[0] ?? "{}");
  await serveStack(options, async ({ backendUrl }) => {
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
    return {
      addresses: { bareFunctionUrl: `${gateway.url}/functions/v1/api` },
      stop: async () => {
        await bare.stop();
        await gateway.close();
      },
    };
  });
}
