/**
 * Runs one Edge Function in a separate process, like the edge runtime of Supabase: this file chooses the port on which
 * `Deno.serve` listens, `EdgeRuntime.waitUntil` exists, and the environment contains only the variables that the
 * platform injects. The code of the function is the deployed code, unchanged.
 *
 * It must run on Deno 2.1.4, the version in the edge runtime, as well as on the latest: it has no imports and uses no
 * newer API. The parent process reads the first line of standard output, and closes standard input to stop it.
 *
 * Usage: deno run edge_runtime.ts FUNCTION_URL NAME_OF_VARIABLE…
 */

const [entry, ...injected] = Deno.args;
if (entry === undefined) throw new Error("Usage: edge_runtime.ts FUNCTION_URL NAME_OF_VARIABLE…");

/** Deno 2.1.4 always compresses for clients that accept it, the latest Deno only with this option. */
const COMPRESSES = { automaticCompression: true };

const encode = (line: string) => new TextEncoder().encode(line + "\n");
const platformServe = Deno.serve;
const background = new Set<Promise<unknown>>();
const servers: Deno.HttpServer[] = [];

/** Removes the variables that only Deno itself required to start. */
function hideEnvironment(): void {
  for (const name of Object.keys(Deno.env.toObject())) {
    if (!injected.includes(name)) Deno.env.delete(name);
  }
}

/** Accepts the forms of `Deno.serve`: a handler, options and a handler, or options with a handler. */
function serve(first: unknown, second?: unknown): Deno.HttpServer {
  const handler = [first, second, Object(first).handler].find((value) => typeof value === "function");
  const onListen = (address: Deno.Addr) => {
    if ("port" in address) Deno.stdout.writeSync(encode(JSON.stringify({ listening: address.port })));
  };
  const server = platformServe({
    ...COMPRESSES,
    ...Object(first),
    hostname: "127.0.0.1",
    port: 0,
    onListen,
    handler,
  });
  servers.push(server);
  return server;
}

/** Tracks work that continues after the response. A failure of that work does not end the process. */
function waitUntil<T>(promise: Promise<T>): Promise<T> {
  const settled: Promise<unknown> = promise
    .catch((error) => Deno.stderr.writeSync(encode(`EdgeRuntime.waitUntil: ${error?.stack ?? error}`)))
    .finally(() => background.delete(settled));
  background.add(settled);
  return promise;
}

/** Finishes open requests and background work, then exits. The parent limits the time. */
async function stop(): Promise<void> {
  await Promise.all(servers.map((server) => server.shutdown()));
  await Promise.all(background);
  Deno.exit(0);
}

/** Standard input ends when the parent closes it or exits. */
async function stopWithParent(): Promise<void> {
  const reader = Deno.stdin.readable.getReader();
  while (!(await reader.read()).done);
  await stop();
}

hideEnvironment();
Object.defineProperty(Deno, "serve", { value: serve, configurable: true, writable: true });
Object.defineProperty(globalThis, "EdgeRuntime", { value: { waitUntil } });
// Ctrl+C is sent to the whole process group; the parent decides when this process exits.
Deno.addSignalListener("SIGINT", () => {});
stopWithParent();
await import(entry);
