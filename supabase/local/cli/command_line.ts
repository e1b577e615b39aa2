/** Shared by the commands: strict options, one line for an error, results on standard output and notices on standard error. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { meantName } from "../../functions/api/http/validate.ts";
import { escapeHidden as escapeControls } from "../../functions/api/runtime/hidden_characters.ts";
import { messageOf, StartupError } from "../startup_error.ts";

/** Escapes text for a terminal, which would obey control characters instead of showing them. */
export { escapeControls };

/** Thrown for options or words that the command does not accept. The message ends with the usage line. */
export class UsageError extends StartupError {
  constructor(problem: string, usage: string) {
    super(`${problem} Usage: ${usage.split("\n")[0]}`);
  }
}

/** Options by name, and whether each takes a value. */
export type OptionTypes = NonNullable<ParseArgsConfig["options"]>;

/**
 * Parses options and positional words. Throws `UsageError` for a repeated option, and for an unknown one, with the one
 * that was probably meant.
 */
export function parseCommand<T extends OptionTypes>(args: readonly string[], options: T, usage: string) {
  refuseUnknownOptions(args, options, usage);
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
    if (twice !== undefined) throw new UsageError(`Option '--${twice}' must not be repeated.`, usage);
    return parsed;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const [problem = "The options are invalid"] = messageOf(error).split(/\. |\n/);
    throw new UsageError(`${problem}.`, usage);
  }
}

function refuseUnknownOptions(args: readonly string[], options: OptionTypes, usage: string): void {
  const known = Object.keys(options);
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== "option" || known.includes(token.name)) continue;
    const meant = token.rawName.startsWith("--") ? meantName(token.name, known) : undefined;
    const hint = meant === undefined ? "" : ` Did you mean --${meant}?`;
    throw new UsageError(`Unknown option '${token.rawName}'.${hint}`, usage);
  }
}

/** Parses a whole number from `min` to `max`. Throws `UsageError`. */
export function parseWholeNumber(
  text: string,
  name: string,
  min: number,
  max: number,
  usage: string,
): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be a whole number from ${min} to ${max}.`, usage);
}

/** Prints one line of the command's result on standard output. */
export function printLine(line: string): void {
  writeLine(Deno.stdout, line);
}

/** Prints one line on standard error: progress, hints and errors. */
export function printNotice(line: string): void {
  writeLine(Deno.stderr, line);
}

/** Runs a command and exits: with 0, or with 1 after one line that names the `StartupError`. */
export async function run(command: () => Promise<void>): Promise<never> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    printNotice(escapeControls(`Error: ${error.message}`));
    Deno.exit(1);
  }
  Deno.exit(0);
}

function writeLine(stream: typeof Deno.stdout | typeof Deno.stderr, line: string): void {
  const text = line.split("\n").map(escapeControls).join("\n");
  const bytes = new TextEncoder().encode(text + "\n");
  for (let done = 0; done < bytes.byteLength;) done += stream.writeSync(bytes.subarray(done));
}
