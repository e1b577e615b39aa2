/** `deno task start`: runs the whole service on this machine until Ctrl+C. */
import { printLine, printNotice, run } from "./command_line.ts";
import { launcherEnded } from "./launcher.ts";
import { SECOND_SIGNAL_AFTER_MILLISECONDS } from "../limits.ts";
import { parseStartOptions, START_USAGE } from "./start_options.ts";
import { type Stack, startStack } from "../stack/stack.ts";

await run(async () => {
  const options = parseStartOptions(Deno.args);
  if (options.help) return printLine(`Usage: ${START_USAGE}`);
  const asked = stopRequest();
  const starting = startStack({
    dataDir: options.dataDir,
    port: options.port,
    databaseUrl: options.databaseUrl,
    onProgress: (line) => printNotice(`${line} …`),
    onFunctionLog: printNotice,
  });
  const stack = await Promise.race([starting, asked]);
  if (stack === undefined) return await (await starting).stop();
  if (options.json) printLine(readyJson(stack));
  else printLine(readyText(stack));
  await asked;
  printNotice("Stopping …");
  await stack.stop();
});

/**
 * Resolves at the first Ctrl+C or SIGTERM, or when npx has exited. A later signal exits immediately; one that follows at
 * once is the same Ctrl+C, which arrives from the terminal and again from `deno task`.
 */
function stopRequest(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let first: number | undefined;
  const onSignal = () => {
    first ??= performance.now();
    if (performance.now() - first > SECOND_SIGNAL_AFTER_MILLISECONDS) Deno.exit(1);
    resolve();
  };
  Deno.addSignalListener("SIGINT", onSignal);
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", onSignal);
  launcherEnded().then(resolve);
  return promise;
}

function readyJson({ baseUrl, apiKey, supabaseUrl, publishableKey, secretKey }: Stack): string {
  return JSON.stringify({ baseUrl, apiKey, supabaseUrl, publishableKey, secretKey });
}

function readyText({ baseUrl, apiKey, supabaseUrl }: Stack): string {
  const key = `-H 'x-api-key: ${apiKey}'`;
  return `
Ready. Press Ctrl+C to stop; files and keys are kept.

  Base URL   ${baseUrl}
  API key    ${apiKey}   (project demo, tier pro)
  Supabase   ${supabaseUrl}
  Console    ${supabaseUrl}/console

Write, read, list:

curl -X POST '${baseUrl}/files' ${key} -H 'content-type: application/json' -d '{"path":"notes/hello.md","content":"# Hello\\n"}'
curl '${baseUrl}/files/notes/hello.md' ${key}
curl '${baseUrl}/files?directory=notes' ${key}
`;
}
