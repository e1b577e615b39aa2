/** Starts, queries and kills a stack that runs in a process of its own. */
import { fileURLToPath } from "node:url";
import { eachLine } from "../../../supabase/local/stack/lines.ts";
import type { StackOptions } from "../../../supabase/local/stack/stack.ts";

const SCRIPT = fileURLToPath(new URL("./stack_process.ts", import.meta.url));
const START_TIMEOUT_MILLISECONDS = 60_000;

export interface StackAddresses {
  readonly baseUrl: string;
  readonly supabaseUrl: string;
  readonly backendUrl: string;
  readonly publishableKey: string;
  readonly secretKey: string;
  /** Where the process answers questions about the stack. */
  readonly controlUrl: string;
}

export class StackChild<Addresses extends StackAddresses = StackAddresses> {
  private constructor(
    readonly addresses: Addresses,
    private readonly process: Deno.ChildProcess,
    private readonly output: Promise<void>,
  ) {}

  /** Resolves when the stack answers. `onLog` is called for each line that the function logs; `script` extends the stack. */
  static async start<Addresses extends StackAddresses = StackAddresses>(
    options: StackOptions,
    onLog: (line: string) => void = () => {},
    script = SCRIPT,
  ): Promise<StackChild<Addresses>> {
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", script, JSON.stringify(options)],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const ready = Promise.withResolvers<Addresses>();
    const timer = setTimeout(() => process.kill("SIGKILL"), START_TIMEOUT_MILLISECONDS);
    let listen = (line: string) => {
      clearTimeout(timer);
      ready.resolve(JSON.parse(line));
      listen = onLog;
    };
    const output = eachLine(process.stdout, (line) => listen(line));
    output.then(() => ready.reject(new Error("the stack did not start in time")), ready.reject);
    return new StackChild(await ready.promise, process, output);
  }

  /** Runs one statement as the database's owner. */
  async sql<Row>(statement: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return await this.#ask("/exec", { sql: statement, parameters });
  }

  /** Runs a script of several statements in one transaction. */
  async script(sql: string): Promise<void> {
    await this.#ask("/script", { sql });
  }

  functionPids(): Promise<number[]> {
    return this.#ask("/pids");
  }

  /** `kill -9` of the process. The processes of the function end by themselves when their parent has ended. */
  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await Promise.all([this.process.status, this.output]);
  }

  /** Asks the process to end, and waits until it has. */
  async stop(): Promise<void> {
    await this.process.stdin.close();
    await Promise.all([this.process.status, this.output]);
  }

  async #ask(path: string, question: unknown = {}) {
    const body = JSON.stringify(question);
    const response = await fetch(this.addresses.controlUrl + path, { method: "POST", body });
    if (!response.ok) throw new Error(await response.text());
    return await response.json();
  }
}
