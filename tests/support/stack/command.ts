/** Runs this repository's commands as a person does, and reads their output. */
import { fileURLToPath } from "node:url";

export const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `deno run supabase/local/SCRIPT ARGS` to its end, without the environment's settings of a Supabase project. */
export async function runCommand(script: string, ...args: string[]): Promise<Finished> {
  const { code, stdout, stderr } = await command(script, args).output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/** A command that keeps running. */
export interface Running {
  readonly pid: number;
  /** The next line of standard output; undefined at the end of the output. */
  nextLine(): Promise<string | undefined>;
  /** Sends the signal and waits until the process has ended. */
  end(signal: Deno.Signal): Promise<Finished>;
}

export function startCommand(script: string, ...args: string[]): Running {
  const child = command(script, args).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const stderr = new Response(child.stderr).text();
  let rest = "";
  const nextLine = async (): Promise<string | undefined> => {
    while (!rest.includes("\n")) {
      const { done, value } = await lines.read();
      if (done) return undefined;
      rest += value;
    }
    const [line, ...others] = rest.split("\n");
    rest = others.join("\n");
    return line;
  };
  return {
    pid: child.pid,
    nextLine,
    async end(signal) {
      child.kill(signal);
      let stdout = "";
      for (let line = await nextLine(); line !== undefined; line = await nextLine()) stdout += `${line}\n`;
      const { code } = await child.status;
      return { code, stdout: stdout + rest, stderr: await stderr };
    },
  };
}

/** Whether the process runs (Linux). False for a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

function command(script: string, args: readonly string[]): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `supabase/local/cli/${script}`, ...args],
    cwd: REPOSITORY,
    env: { SUPABASE_URL: "", SUPABASE_SECRET_KEY: "", BASE_URL: "", API_KEY: "", NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}
