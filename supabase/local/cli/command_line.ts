/** What the commands share: strict options, one clear line for an error, output that goes where it should. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { messageOf, StartupError } from "../startup_error.ts";

/** The command was called in a way it does not know. */
export class UsageError extends StartupError {
  constructor(problem: string, usage: string) {
    super(`${problem} Usage: ${usage.split("\n")[0]}`);
  }
}

/** Options by name and whether they take a value. */
export type OptionTypes = NonNullable<ParseArgsConfig["options"]>;

/** Reads options and words; anything unknown or given twice is a `UsageError`. */
export function parseCommand<T extends OptionTypes>(args: readonly string[], options: T, usage: string) {
  try {
    const parsed = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
      tokens: true,
    });
    const names = parsed.tokens.flatMap((token) => token.kind === "option" ? [token.name] : []);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new UsageError(`Option '--${twice}' is given twice.`, usage);
    return parsed;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const [problem = "The options are not understood"] = messageOf(error).split(/\. |\n/);
    throw new UsageError(`${problem}.`, usage);
  }
}

/** A whole number from `min` to `max`. */
export function wholeNumber(text: string, name: string, min: number, max: number, usage: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} is a whole number from ${min} to ${max}.`, usage);
}

/** One line on standard output: the command's answer. */
export function answer(line: string): void {
  writeLine(Deno.stdout, line);
}

/** One line on standard error: all that is not the answer. */
export function remark(line: string): void {
  writeLine(Deno.stderr, line);
}

/** Runs a command and ends the process: 0, or 1 after one clear line. */
export async function run(command: () => Promise<void>): Promise<never> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    remark(`Error: ${error.message}`);
    Deno.exit(1);
  }
  Deno.exit(0);
}

function writeLine(stream: typeof Deno.stdout | typeof Deno.stderr, line: string): void {
  const bytes = new TextEncoder().encode(line + "\n");
  for (let done = 0; done < bytes.byteLength;) done += stream.writeSync(bytes.subarray(done));
}
