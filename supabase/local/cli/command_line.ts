/** Shared by the commands: strict options, one line for an error, results on standard output and notices on standard error. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { meantName } from "../../functions/api/http/validate.ts";
import { VERSION } from "../../functions/api/version.ts";
import { escapeHidden as escapeControls } from "../../functions/api/runtime/hidden_characters.ts";
import { messageOf, StartupError } from "../startup_error.ts";

/** Escapes text for a terminal, which would obey control characters instead of showing them. */
export { escapeControls };

/** Thrown for options or words that a command does not accept. `run` adds the usage line of the command. */
export class UsageError extends StartupError {}

/** Options by name, and whether each takes a value. */
export type OptionTypes = NonNullable<ParseArgsConfig["options"]>;

/**
 * Parses options, the command and its words. The help lists the commands and their words, such as ` rename PROJECT NAME
 * change its name`. Throws `UsageError` for a repeated option, for a missing or extra word, and for an unknown option or
 * command; the last two name the one that was probably meant.
 */
export function parseCommand<T extends OptionTypes>(args: readonly string[], options: T, help: string) {
  refuseUnknownOptions(args, options);
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
    if (twice !== undefined) throw new UsageError(`Option '--${twice}' must not be repeated.`);
    return { values: parsed.values, ...parseWords(parsed.positionals, help) };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const [problem = "The options are invalid"] = messageOf(error).split(/\. |\n/);
    throw new UsageError(`${problem}.`);
  }
}

interface Command {
  readonly name: string;
  /** The command with its words and options, as in the line of the help. */
  readonly usage: string;
  readonly required: readonly string[];
  readonly wordsMax: number;
}

/** The commands in the first line of the help; empty for a task that is one command. */
function commandsOf(help: string): Command[] {
  const [first = "", ...lines] = help.split("\n");
  const names = first.split(" ").slice(3).filter((word) => /^[a-z][a-z-]*$/.test(word));
  return names.map((name) => {
    const line = lines.find((one) => one.startsWith(`  ${name}`)) ?? "";
    const [usage = name] = line.trimStart().split("  ");
    const withoutOptions = usage.replaceAll(/ (\[--[^\]]*\]|--[a-z-]+ [A-Z]\S*)/g, "");
    const words = withoutOptions.split(" ").slice(1);
    const isRepeated = words.some((word) => word.endsWith("…]"));
    const required = words.filter((word) => !word.startsWith("["));
    return { name, usage, required, wordsMax: isRepeated ? Infinity : words.length };
  });
}

function parseWords([name, ...words]: readonly string[], help: string) {
  const commands = commandsOf(help);
  const names = commands.map((command) => command.name);
  if (names.length === 0) {
    if (name !== undefined) throw new UsageError(`Unexpected argument '${name}'.`);
    return { command: "", words };
  }
  if (name === undefined) throw new UsageError("A command is missing.");
  const command = commands.find((one) => one.name === name);
  if (command === undefined) {
    const meant = meantName(name, names);
    throw new UsageError(`Unknown command '${name}'.${meant === undefined ? "" : ` Did you mean ${meant}?`}`);
  }
  const missing = command.required.slice(words.length);
  if (missing.length > 0) {
    throw new UsageError(`${name} requires ${new Intl.ListFormat("en").format(missing)}.`);
  }
  const [surplus] = words.slice(command.wordsMax);
  if (surplus !== undefined) throw new UsageError(`Unexpected argument '${surplus}'.`);
  return { command: name, words };
}

/** The line of the help that describes the command of these arguments, otherwise its first line. */
function usageLine(help: string, args: readonly string[]): string {
  const [first = ""] = help.split("\n");
  const command = commandsOf(help).find(({ name }) => args.includes(name));
  return command === undefined ? first : `${first.split(" ").slice(0, 3).join(" ")} ${command.usage}`;
}

function refuseUnknownOptions(args: readonly string[], options: OptionTypes): void {
  const known = Object.keys(options);
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== "option" || known.includes(token.name)) continue;
    const meant = token.rawName.startsWith("--") ? meantName(token.name, known) : undefined;
    const hint = meant === undefined ? "" : ` Did you mean --${meant}?`;
    throw new UsageError(`Unknown option '${token.rawName}'.${hint}`);
  }
}

/** Parses a whole number from `min` to `max`. Throws `UsageError`. */
export function parseWholeNumber(text: string, name: string, min: number, max: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be a whole number from ${min} to ${max}.`);
}

/** Prints one line of the command's result on standard output. */
export function printLine(line: string): void {
  writeLine(Deno.stdout, line);
}

/** Prints one line on standard error: progress, hints and errors. */
export function printNotice(line: string): void {
  writeLine(Deno.stderr, line);
}

/**
 * Runs a task and exits: with 0, or with 1 after one line that names the `StartupError`. With `--help` it prints the help
 * instead, whose first line is a usage line such as `deno task keys create | list`; with `--version` the version.
 */
export async function run(help: string, task: () => Promise<void>): Promise<never> {
  try {
    if (Deno.args.some((arg) => arg === "--help" || arg === "-h")) printLine(`Usage: ${help}`);
    else if (Deno.args.includes("--version")) printLine(VERSION);
    else await task();
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    const usage = error instanceof UsageError ? ` Usage: ${usageLine(help, Deno.args)}` : "";
    printNotice(escapeControls(`Error: ${error.message}${usage}`));
    Deno.exit(1);
  }
  Deno.exit(0);
}

function writeLine(stream: typeof Deno.stdout | typeof Deno.stderr, line: string): void {
  const text = line.split("\n").map(escapeControls).join("\n");
  const bytes = new TextEncoder().encode(text + "\n");
  for (let done = 0; done < bytes.byteLength;) done += stream.writeSync(bytes.subarray(done));
}
