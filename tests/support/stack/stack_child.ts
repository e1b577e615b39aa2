/** Starts, queries and kills a stack that runs in a process of its own. */
import { fileURLToPath } from "node:url";
import { z } from "zod";

const SCRIPT = fileURLToPath(new URL("./stack_child_process.ts", import.meta.url));
const START_TIMEOUT_MILLISECONDS = 60_000;

const ready = z.object({ baseUrl: z.string(), supabaseUrl: z.string(), secretKey: z.string() });
export type StackReady = z.infer<typeof ready>;

/** Without `sql`: asks which processes run the function now. */
export const question = z.object({
  id: z.int(),
  sql: z.string().optional(),
  parameters: z.array(z.unknown()).optional(),
});

const said = z.union([
  z.object({ ready }),
  z.object({ log: z.string() }),
  z.object({ id: z.int(), rows: z.array(z.unknown()) }),
  z.object({ id: z.int(), error: z.string() }),
]);

export interface StackChildOptions {
  readonly dataDir: string;
  readonly port: number;
  /** Undefined: the stack uses PGlite. */
  readonly databaseUrl: string | undefined;
  readonly functionProcesses: number;
  readonly onFunctionLog: (line: string) => void;
}

export class StackChild {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown[]>>();
  readonly #ready = Promise.withResolvers<StackReady>();
  readonly #output: Promise<void>;
  #number = 0;

  private constructor(options: StackChildOptions) {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--no-check", SCRIPT, options.dataDir, String(options.port)],
        ...[options.databaseUrl ?? "", String(options.functionProcesses)],
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#input = this.#process.stdin.getWriter();
    this.#input.closed.catch(() => {});
    this.#output = this.#listen(options.onFunctionLog);
  }

  /** Resolves when the stack answers. */
  static async start(options: StackChildOptions): Promise<StackChild & { readonly ready: StackReady }> {
    const child = new StackChild(options);
    const timer = setTimeout(
      () => child.#ready.reject(new Error("the stack does not start in time")),
      START_TIMEOUT_MILLISECONDS,
    );
    try {
      return Object.assign(child, { ready: await child.#ready.promise });
    } catch (error) {
      await child.kill();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs one statement as the database's owner. */
  async sql<Row>(statement: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return await this.#ask({ sql: statement, parameters }) as Row[];
  }

  async functionPids(): Promise<number[]> {
    return z.array(z.int()).parse(await this.#ask({}));
  }

  /** `kill -9` of the process. The processes of the function end by themselves when their parent has ended. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await this.#output;
  }

  /** Asks the process to end, and waits until it has. */
  async stop(): Promise<void> {
    await this.#input.close();
    await this.#process.status;
    await this.#output;
  }

  async #ask(what: { sql?: string; parameters?: readonly unknown[] }): Promise<unknown[]> {
    const id = ++this.#number;
    const answer = Promise.withResolvers<unknown[]>();
    this.#asked.set(id, answer);
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify({ id, ...what })}\n`));
    return await answer.promise;
  }

  async #listen(onFunctionLog: (line: string) => void): Promise<void> {
    let rest = "";
    for await (const text of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#hear(said.parse(JSON.parse(line)), onFunctionLog);
    }
    const ended = new Error("the stack has ended");
    this.#ready.reject(ended);
    for (const answer of this.#asked.values()) answer.reject(ended);
  }

  #hear(line: z.infer<typeof said>, onFunctionLog: (line: string) => void): void {
    if ("ready" in line) return this.#ready.resolve(line.ready);
    if ("log" in line) return onFunctionLog(line.log);
    const answer = this.#asked.get(line.id);
    this.#asked.delete(line.id);
    if ("rows" in line) answer?.resolve(line.rows);
    else answer?.reject(new Error(line.error));
  }
}
