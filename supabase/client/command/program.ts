/** The command line: reads arguments, runs the command, and turns what happened into a status. */
import { Command as Program, CommanderError, InvalidArgumentError } from "commander";
import { VERSION } from "../../functions/api/version.ts";
import { Failure } from "../failure.ts";
import { FilestoreError, messageOf } from "../library/errors.ts";
import { Filestore } from "../library/filestore.ts";
import { type Command, ConflictError, Context, type OptionLine, UsageError } from "./command.ts";
import { type Credentials, credentials, type Fallback, profilePath } from "./connection.ts";
import { BRANCH_COMMANDS } from "./branch_commands.ts";
import { GIT } from "./git_command.ts";
import { LOGIN } from "./login_command.ts";
import { printLine, printNotice, shown } from "./output.ts";
import { READ_COMMANDS } from "./read_commands.ts";
import { RUN_COMMANDS } from "./run_commands.ts";
import { SYNC } from "./sync_command.ts";
import { TRANSFER_COMMANDS } from "./transfer_commands.ts";
import { WRITE_COMMANDS } from "./write_commands.ts";

export const COMMANDS: readonly Command[] = [
  ...READ_COMMANDS,
  ...WRITE_COMMANDS,
  ...RUN_COMMANDS,
  ...BRANCH_COMMANDS,
  ...TRANSFER_COMMANDS,
  GIT,
  SYNC,
  LOGIN,
];

/** The statuses of the command. */
const REFUSED = 1;
const USAGE = 2;
const CONFLICT = 3;

export interface Settings {
  /** The name in the help: `filestore`. */
  readonly name: string;
  /** Options besides those of the client, of all commands. */
  readonly options?: readonly OptionLine[];
  /** The credentials where options, environment and profile have none; gets the values of `options`. */
  readonly fallback?: (options: Readonly<Record<string, unknown>>) => ReturnType<Fallback>;
}

const GLOBAL: readonly OptionLine[] = [
  ["--url <url>", "the base address of the service (default: FILESTORE_URL, or the profile of login)"],
  ["--key <key>", "a key of the project (default: FILESTORE_KEY, or the profile of login)"],
  ["--json", "print one line of JSON for each result"],
];

/** Runs a command line and returns its status: 0, 1 refused, 2 usage, 3 conflict. */
export async function runCommandLine(args: readonly string[], settings: Settings): Promise<number> {
  try {
    // Not an option of the program: it would take the "--version" of "cat".
    if (args.length === 1 && args[0] === "--version") await printLine(VERSION);
    else await programOf(settings).parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    return statusOf(error, settings.name);
  }
}

function programOf(settings: Settings): Program {
  const program = new Program(settings.name);
  program.description("The files of a project: versioned storage for agents.")
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => {} })
    .helpCommand(false);
  addOptions(program, [...GLOBAL, ...settings.options ?? []]);
  program.addHelpText("after", `\n${settings.name} --version prints the version.`);
  program.addHelpText("after", `\nStatus: 0, ${REFUSED} refused, ${USAGE} usage, ${CONFLICT} conflict.`);
  for (const command of COMMANDS) addCommand(program, command, settings);
  return program;
}

function addCommand(program: Program, command: Command, settings: Settings): void {
  const lines = command.examples.map((example) => `  ${settings.name} ${example}`);
  const own = parentOf(program, command).command(command.usage)
    .summary(command.summary)
    .description(command.more === undefined ? command.summary : `${command.summary}\n\n${command.more}`)
    .addHelpText("after", `\n${lines.length > 1 ? "Examples" : "Example"}:\n${lines.join("\n")}`);
  addOptions(own, command.options ?? []);
  own.action(async (...given: unknown[]) => {
    const options: Readonly<Record<string, unknown>> = own.optsWithGlobals();
    const words = given.slice(0, own.registeredArguments.length).flat()
      .filter((word) => typeof word === "string");
    await runCommand(command, options, words, settings);
  });
}

/** The program, or the group of the command, which the first command of it adds. */
function parentOf(program: Program, { group }: Command): Program {
  if (group === undefined) return program;
  return program.commands.find((other) => other.name() === group.name) ??
    program.command(group.name).summary(group.summary).description(group.summary).helpCommand(false);
}

async function runCommand(
  command: Command,
  options: Readonly<Record<string, unknown>>,
  words: readonly string[],
  settings: Settings,
): Promise<void> {
  const found = command === LOGIN ? null : await credentials(
    { url: textOf(options["url"]), key: textOf(options["key"]) },
    async () => await settings.fallback?.(options) ?? null,
  );
  let store: Filestore | undefined;
  const connect = () => store ??= connected(found, options);
  await command.run(new Context(options, connect), ...words);
}

function connected(found: Credentials | null, options: Readonly<Record<string, unknown>>): Filestore {
  if (found === null) {
    throw new UsageError(
      "A project requires both the service's address and a key: set FILESTORE_URL and FILESTORE_KEY, or use login.",
    );
  }
  return new Filestore({ ...found, run: textOf(options["run"]), actor: textOf(options["actor"]) });
}

function addOptions(program: Program, options: readonly OptionLine[]): void {
  for (const [flags, meaning, parse] of options) {
    if (parse === undefined) program.option(flags, meaning);
    else program.option(flags, meaning, parse);
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Says in one line what went wrong. */
function statusOf(error: unknown, name: string): number {
  if (error instanceof InvalidArgumentError) {
    printNotice(`Error: ${error.message}`);
    return USAGE;
  }
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // Without a command the whole help is printed instead.
    if (error.code !== "commander.help") {
      const [problem = "", hint = ""] = error.message.replace(/^error: /, "").split("\n");
      printNotice(`Error: ${[problem, hint].filter((part) => part !== "").join(" ")}. See ${name} --help.`);
    }
    return USAGE;
  }
  if (error instanceof FilestoreError) {
    printNotice(`${error.code}: ${error.message}${hintOf(error)}`);
    const isConflict = error.status === 412 || ["RUN_CONFLICT", "MERGE_CONFLICT"].includes(error.code);
    return isConflict ? CONFLICT : REFUSED;
  }
  if (error instanceof Failure) {
    printNotice(`Error: ${error.message}`);
    if (error instanceof ConflictError) return CONFLICT;
    return error instanceof UsageError ? USAGE : REFUSED;
  }
  printNotice(`Error: ${shown(messageOf(error))}`);
  return REFUSED;
}

function hintOf({ code }: FilestoreError): string {
  return code === "INVALID_API_KEY" ? ` It comes from --key, FILESTORE_KEY or ${profilePath()}.` : "";
}
