/** What a command is, and what it gets. */
import { InvalidArgumentError } from "commander";
import { normalizeDirectory } from "../../functions/api/http/path.ts";
import { Failure } from "../failure.ts";
import { messageOf } from "../library/errors.ts";
import type { Filestore } from "../library/filestore.ts";
import type { WriteOptions } from "../library/options.ts";

/** Flags as commander reads them, what they mean, and how their value is parsed. */
export type OptionLine = readonly [flags: string, meaning: string, parse?: (text: string) => unknown];

export interface Group {
  readonly name: string;
  readonly summary: string;
}

export interface Command {
  /** `put <file> <path>` */
  readonly usage: string;
  /** The command that has this one below it, such as `branch`. */
  readonly group?: Group;
  readonly summary: string;
  /** More than the summary, for the command's own help. */
  readonly more?: string;
  readonly options?: readonly OptionLine[];
  /** Command lines that a test runs, without the name of the program. */
  readonly examples: readonly string[];
  run(context: Context, ...words: string[]): Promise<void>;
}

/** Thrown for a command line that cannot be executed: status 2. */
export class UsageError extends Failure {
  override readonly name = "UsageError";
}

/** Thrown where a conflict is left: status 3. */
export class ConflictError extends Failure {
  override readonly name = "ConflictError";
}

export class Context {
  constructor(
    readonly options: Readonly<Record<string, unknown>>,
    private readonly connect: () => Filestore,
  ) {}

  /** Connects when it is first used, after the command line was checked. */
  get store(): Filestore {
    return this.connect();
  }

  text(name: string): string | undefined {
    const value = this.options[name];
    return typeof value === "string" ? value : undefined;
  }

  number(name: string): number | undefined {
    const value = this.options[name];
    return typeof value === "number" ? value : undefined;
  }

  flag(name: string): boolean {
    return this.options[name] === true;
  }

  get isJson(): boolean {
    return this.flag("json");
  }

  get writeOptions(): WriteOptions {
    return { ifVersion: this.number("ifVersion"), note: this.text("note") };
  }
}

/** A parser of whole numbers from `min`. */
export function whole(min: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= min) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min}.`);
  };
}

/** The folder that `--directory` names, "" for the root. Throws `UsageError`. */
export function directoryOf(text: string): string {
  try {
    return normalizeDirectory(text);
  } catch (error) {
    throw new UsageError(`--directory: ${messageOf(error)}`);
  }
}

/** A parser of the words that an option accepts. */
export function oneOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    if (words.includes(text)) return text;
    throw new InvalidArgumentError(`It must be one of ${words.join(", ")}.`);
  };
}

/** Options of all commands that write. */
export const PROVENANCE: readonly OptionLine[] = [
  ["--note <text>", "why, recorded with the version"],
  ["--run <id>", "the run that the change belongs to; a run can be undone"],
  ["--actor <name>", "who makes the change"],
];
export const WRITES: readonly OptionLine[] = [
  ["--if-version <n>", "only if the file is at this version; 0: only if there is none", whole(0)],
  ...PROVENANCE,
];
