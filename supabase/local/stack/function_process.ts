/** One process that runs the function; it is restarted when it exits. */
import { Agent } from "node:http";
import type { FunctionCommand } from "./function_command.ts";
import {
  FUNCTION_HEALTHY_AFTER_MILLISECONDS,
  FUNCTION_LAST_LINES_KEPT,
  FUNCTION_RESTART_FIRST_MILLISECONDS,
  FUNCTION_RESTART_MAX_MILLISECONDS,
  FUNCTION_START_TIMEOUT_MILLISECONDS,
  FUNCTION_STOP_TIMEOUT_MILLISECONDS,
} from "../limits.ts";
import { eachLine } from "./lines.ts";
import { StartupError } from "../startup_error.ts";

/** The port of a process, and the agent with its open connections. */
export interface Upstream {
  readonly port: number;
  readonly agent: Agent;
}

export interface FunctionProcessOptions {
  readonly command: FunctionCommand;
  readonly onLog: (line: string) => void;
  /** Called after a change of `upstream`. */
  readonly onChange: () => void;
  /** How long the process may finish open requests and background work when it is stopped. Default 3,000. */
  readonly stopTimeoutMilliseconds?: number | undefined;
  /** Longest pause before the process is restarted. Default 5,000. */
  readonly restartMaxMilliseconds?: number | undefined;
}

export class FunctionProcess {
  /** Null while no process listens. */
  upstream: Upstream | null = null;
  pid: number | null = null;

  readonly #options: FunctionProcessOptions;
  readonly #stopped = Promise.withResolvers<void>();
  #stopping = false;
  #child: Deno.ChildProcess | null = null;
  #supervision: Promise<void> = Promise.resolve();

  constructor(options: FunctionProcessOptions) {
    this.#options = options;
  }

  /** Resolves when the function listens. Throws `StartupError` if its first process exits before. */
  async start(): Promise<void> {
    const listening = Promise.withResolvers<void>();
    this.#supervision = this.#supervise(listening);
    await listening.promise;
  }

  /** Gives open requests time to finish, then ends the process and does not restart it. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stopped.resolve();
    await this.#end();
    await this.#supervision;
  }

  async #supervise(first: PromiseWithResolvers<void>): Promise<void> {
    const { restartMaxMilliseconds = FUNCTION_RESTART_MAX_MILLISECONDS } = this.#options;
    let pause = FUNCTION_RESTART_FIRST_MILLISECONDS;
    for (let attempt = 1; !this.#stopping; attempt++) {
      const started = performance.now();
      const ending = await this.#runOnce(first.resolve);
      if (this.#stopping) break;
      if (attempt === 1 && !ending.listened) {
        first.reject(new StartupError(`The function does not start: ${ending.lastLines.join(" | ")}`));
        return;
      }
      this.#options.onLog(`The function process ended (${ending.reason}); restarting it in ${pause} ms.`);
      await Promise.race([wait(pause), this.#stopped.promise]);
      const healthy = performance.now() - started > FUNCTION_HEALTHY_AFTER_MILLISECONDS;
      pause = healthy ? FUNCTION_RESTART_FIRST_MILLISECONDS : Math.min(pause * 2, restartMaxMilliseconds);
    }
    first.reject(new StartupError("The function was stopped before it listened."));
  }

  /** Runs a process until it exits. */
  async #runOnce(onListen: () => void) {
    const { command, onLog } = this.#options;
    const child = new Deno.Command(command.executable, {
      args: [...command.args],
      env: { ...command.environment },
      clearEnv: true,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#child = child;
    this.pid = child.pid;
    const lastLines: string[] = [];
    let listened = false;
    const log = (line: string) => {
      lastLines.push(line);
      if (lastLines.length > FUNCTION_LAST_LINES_KEPT) lastLines.shift();
      onLog(line);
    };
    const tooLate = setTimeout(() => kill(child, "SIGKILL"), FUNCTION_START_TIMEOUT_MILLISECONDS);
    const output = eachLine(child.stdout, (line) => {
      const port = listened ? null : portOf(line);
      if (port === null) return log(line);
      listened = true;
      clearTimeout(tooLate);
      this.#set({ port, agent: new Agent({ keepAlive: true }) });
      onListen();
    });
    const errors = eachLine(child.stderr, log);
    const status = await child.status;
    clearTimeout(tooLate);
    this.#set(null);
    this.#child = null;
    this.pid = null;
    await Promise.allSettled([output, errors]);
    return { listened, lastLines, reason: status.signal ?? `exit code ${status.code}` };
  }

  #set(upstream: Upstream | null): void {
    this.upstream?.agent.destroy();
    this.upstream = upstream;
    this.#options.onChange();
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    child.stdin.close().catch(() => {/* it has already exited */});
    const timeout = this.#options.stopTimeoutMilliseconds ?? FUNCTION_STOP_TIMEOUT_MILLISECONDS;
    const killer = setTimeout(() => kill(child, "SIGKILL"), timeout);
    await child.status;
    clearTimeout(killer);
  }
}

function portOf(line: string): number | null {
  const [, port] = /^\{"listening":(\d+)\}$/.exec(line) ?? [];
  return port === undefined ? null : Number(port);
}

function kill(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch { /* it has already exited */ }
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
