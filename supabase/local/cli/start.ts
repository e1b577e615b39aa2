/** `deno task start`: runs the whole service on this machine until Ctrl+C. */
import { escapeControls, printLine, printNotice, run } from "./command_line.ts";
import { launcherEnded } from "./launcher.ts";
import { SECOND_SIGNAL_AFTER_MILLISECONDS } from "../limits.ts";
import { parseStartOptions, START_USAGE } from "./start_options.ts";
import { requestLogFileOf } from "../stack/data_directory.ts";
import type { Mail } from "../local_mail.ts";
import { RequestLog } from "../stack/request_log.ts";
import { type Stack, startStack } from "../stack/stack.ts";

await run(START_USAGE, async () => {
  const options = parseStartOptions(Deno.args);
  const stopRequested = stopRequest();
  // The file is opened when the first line is logged; by then the folder exists.
  const log = new RequestLog(requestLogFileOf(options.dataDir));
  const starting = startStack({
    dataDir: options.dataDir,
    port: options.port,
    databaseUrl: options.databaseUrl,
    embeddings: options.embeddings,
    onProgress: (line) => printNotice(`${line} …`),
    onFunctionLog: options.log ? printNotice : (line) => logLine(log, line),
    onMail: (mail) => printNotice(mailText(mail)),
  });
  const stack = await Promise.race([starting, stopRequested]);
  if (stack === undefined) return await (await starting).stop();
  if (options.json) printLine(readyJson(stack));
  else printLine(readyText(stack, options.log ? null : log.path));
  await stopRequested;
  printNotice("Stopping …");
  await stack.stop();
  log.close();
});

/**
 * Resolves at the first Ctrl+C or SIGTERM, or when npx has exited. A later signal exits immediately. A signal within
 * SECOND_SIGNAL_AFTER_MILLISECONDS is the same Ctrl+C, which arrives from the terminal and again from `deno task`.
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

/** Writes every line to the file, and to the terminal those that are not requests, such as the end of a process. */
function logLine(log: RequestLog, line: string): void {
  log.write(line);
  if (!line.startsWith("{")) printNotice(line);
}

function mailText({ to, subject, link }: Mail): string {
  const what = `Local mail to ${escapeControls(to)}: ${escapeControls(subject)}`;
  return link === null ? what : `${what}\n  ${escapeControls(link)}`;
}

function readyText({ baseUrl, apiKey, supabaseUrl, demo }: Stack, requestLog: string | null): string {
  const signUp = "create an account there, with any e-mail address and a password of at least 6 characters";
  const signIn = demo === null
    ? signUp
    : demo.owner === null
    ? `${signUp}: the first one gets the project ${escapeControls(demo.name)}`
    : `sign in as ${escapeControls(demo.owner)}, who owns the project ${escapeControls(demo.name)}`;
  return `
Ready. Press Ctrl+C to stop; files and keys are kept.

  Console    ${supabaseUrl}/console
             ${signIn}
  Supabase   ${supabaseUrl}
  Requests   ${requestLog === null ? "are shown here" : `are logged to ${requestLog}`}
  Mail       that Auth would send is shown here and in the console

Paste these lines into another shell:

export BASE_URL=${baseUrl} API_KEY=${apiKey}
curl -sS --fail-with-body "$BASE_URL/files" -H "x-api-key: $API_KEY" -d '{"path":"notes/hello.md","content":"# Hello\\n"}'
curl -sS --fail-with-body "$BASE_URL/files/notes/hello.md" -H "x-api-key: $API_KEY"
curl -sS --fail-with-body "$BASE_URL/files?directory=notes" -H "x-api-key: $API_KEY"
`;
}
