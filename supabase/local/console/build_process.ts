/** Builds the console in a separate process, so that none of its packages are loaded into the stack. */
import { CONSOLE_PROBLEM_LENGTH_MAX } from "../limits.ts";
import { CONSOLE_COMMAND, LOCAL_CONFIG } from "../repository.ts";
import { messageOf } from "../startup_error.ts";

export class BuildProcess {
  private process: Deno.ChildProcess | null = null;
  private failure: string | null = null;

  /** Why the last build failed, or null. */
  get problem(): string | null {
    return this.failure;
  }

  /** Starts a build unless one is running. */
  start(): void {
    if (this.process !== null) return;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", `--config=${LOCAL_CONFIG}`, CONSOLE_COMMAND, "--local"],
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.process = process;
    this.wait(process).catch((error) => this.failure = messageOf(error)).finally(() => this.process = null);
  }

  /** The next visit starts a new build. */
  clearProblem(): void {
    this.failure = null;
  }

  /** Stops a running build. */
  cancel(): void {
    this.process?.kill();
  }

  private async wait(process: Deno.ChildProcess): Promise<void> {
    const output = await new Response(process.stderr).text();
    const { success } = await process.status;
    if (!success) {
      this.failure = output.trim().slice(-CONSOLE_PROBLEM_LENGTH_MAX) || "the build exited without a message";
    }
  }
}
