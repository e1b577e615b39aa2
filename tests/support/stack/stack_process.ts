/**
 * The stack in a process of its own, so that a test can kill all of it at once, and so that a benchmark shares no event
 * loop with it. Usage: stack_process.ts OPTIONS_AS_JSON. See `stack_child.ts`, which starts it.
 */
import { type Stack, type StackOptions, startStack } from "../../../supabase/local/stack/stack.ts";
import type { StackAddresses } from "./stack_child.ts";

if (import.meta.main) await serveStack(JSON.parse(Deno.args[0] ?? "{}"));

/**
 * Starts a stack and answers questions about it over HTTP until standard input ends. The first line of the output has its
 * addresses and those that `extend` returns; the others are lines that the function has logged.
 */
export async function serveStack(
  options: StackOptions,
  extend: (stack: Stack) => Promise<{ readonly addresses: object; readonly stop: () => Promise<void> }> =
    () => Promise.resolve({ addresses: {}, stop: () => Promise.resolve() }),
): Promise<void> {
  let isReady = false;
  const stack = await startStack({
    ...options,
    demo: false,
    onFunctionLog: (line) => isReady && print(line),
  });
  const more = await extend(stack);
  const control = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/pids") return Response.json(stack.functionPids);
    const { sql, parameters } = await request.json();
    try {
      if (pathname === "/script") return Response.json(await stack.script(sql) ?? null);
      return Response.json(await stack.exec(sql, parameters));
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
  });
  const { baseUrl, supabaseUrl, backendUrl, publishableKey, secretKey } = stack;
  const controlUrl = `http://127.0.0.1:${control.addr.port}`;
  const addresses: StackAddresses = {
    ...{ baseUrl, supabaseUrl, backendUrl, publishableKey, secretKey, controlUrl },
  };
  print(JSON.stringify({ ...addresses, ...more.addresses }));
  isReady = true;
  const reader = Deno.stdin.readable.getReader();
  while (!(await reader.read()).done);
  await more.stop();
  await stack.stop();
  // PGlite leaves its own exit code.
  Deno.exit(0);
}

function print(text: string): void {
  const line = new TextEncoder().encode(`${text}\n`);
  for (let done = 0; done < line.length;) done += Deno.stdout.writeSync(line.subarray(done));
}
