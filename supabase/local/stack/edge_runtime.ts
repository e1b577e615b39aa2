/**
 * Runs one Edge Function in a process of its own, the way Supabase's edge runtime does: `Deno.serve` listens where
 * the platform says, `EdgeRuntime.waitUntil` exists, and the environment holds what the platform injects and nothing
 * else. The function's code is the deployed one, unchanged.
 *
 * It must run on Deno 2.1.4, the version inside the edge runtime, as well as on the newest. So: no imports, and no
 * newer API. Its parent reads the first line of standard output, and closes standard input to end it.
 *
 * Usage: deno run edge_runtime.ts FUNCTION_URL NAME_OF_VARIABLE…
 */

const [entry, ...injected] = Deno.args;
if (entry === undefined) throw new Error("Usage: edge_runtime.ts FUNCTION_URL NAME_OF_VARIABLE…");

const encode = (line: string) => new TextEncoder().encode(line + "\n");
const platformServe = Deno.serve;
const background = new Set<Promise<unknown>>();
const servers: Deno.HttpServer[] = [];

/** What is left of the environment is what Deno itself needed to start. */
function hideEnvironment(): void {
  for (const name of Object.keys(Deno.env.toObject())) {
    if (!injected.includes(name)) Deno.env.delete(name);
  }
}

/** `Deno.serve` as functions call it: a handler, options and a handler, or options with one. */
function serve(first: unknown, second?: unknown): Deno.HttpServer {
  const handler = [first, second, Object(first).handler].find((value) => typeof value === "function");
  const onListen = (address: Deno.Addr) => {
    if ("port" in address) Deno.stdout.writeSync(encode(JSON.stringify({ listening: address.port })));
  };
  const server = platformServe({ ...Object(first), hostname: "127.0.0.1", port: 0, onListen, handler });
  servers.push(server);
  return server;
}

/** Keeps work alive that goes on after the response. It may fail without taking the process along. */
function waitUntil<T>(promise: Promise<T>): Promise<T> {
  const settled: Promise<unknown> = promise
    .catch((error) => Deno.stderr.writeSync(encode(`EdgeRuntime.waitUntil: ${error?.stack ?? error}`)))
    .finally(() => background.delete(settled));
  background.add(settled);
  return promise;
}

/** Finishes open requests and background work, then ends. The parent limits how long that may take. */
async function stop(): Promise<void> {
  await Promise.all(servers.map((server) => server.shutdown()));
  await Promise.all(background);
  Deno.exit(0);
}

/** Standard input ends when the parent closes it or dies. */
async function stopWithParent(): Promise<void> {
  const reader = Deno.stdin.readable.getReader();
  while (!(await reader.read()).done);
  await stop();
}

hideEnvironment();
Object.defineProperty(Deno, "serve", { value: serve, configurable: true, writable: true });
Object.defineProperty(globalThis, "EdgeRuntime", { value: { waitUntil } });
// Ctrl+C reaches the whole process group; the parent decides when this process ends.
Deno.addSignalListener("SIGINT", () => {});
stopWithParent();
await import(entry);
