/**
 * The stack in a process of its own, so that a test can kill all of it at once. The first line of its output says where
 * it listens; each line of its input is a question, which it answers with one line.
 */
import { startStack } from "../../../supabase/local/stack/stack.ts";
import { question, type StackReady } from "./stack_child.ts";

const [dataDir = "", port = "0", databaseUrl = "", functionProcesses = "1"] = Deno.args;

const stack = await startStack({
  dataDir,
  port: Number(port),
  databaseUrl: databaseUrl === "" ? undefined : databaseUrl,
  functionProcesses: Number(functionProcesses),
  demo: false,
  onFunctionLog: (line) => say({ log: line }),
});

function say(what: unknown): void {
  const line = new TextEncoder().encode(`${JSON.stringify(what)}\n`);
  for (let done = 0; done < line.length;) done += Deno.stdout.writeSync(line.subarray(done));
}

const { baseUrl, supabaseUrl, secretKey } = stack;
say({ ready: { baseUrl, supabaseUrl, secretKey } satisfies StackReady });

let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const asked = question.parse(JSON.parse(line));
    try {
      say({
        id: asked.id,
        rows: asked.sql === undefined ? stack.functionPids : await stack.exec(asked.sql, asked.parameters),
      });
    } catch (error) {
      say({ id: asked.id, error: String(error) });
    }
  }
}
await stack.stop();
// PGlite leaves its own exit code.
Deno.exit(0);
