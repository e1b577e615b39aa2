/** Runs the command `filestore` as a person does, in a folder of its own and with a home of its own. */
import { join } from "node:path";
import { REPOSITORY } from "../stack/command.ts";

/** The words that start the command. */
export type Started = readonly string[];

export const FROM_SOURCES: Started = [
  Deno.execPath(),
  ..."run -A --quiet".split(" "),
  join(REPOSITORY, "supabase/client/main.ts"),
];

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Setting {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

export class CommandLine {
  constructor(private readonly started: Started, private readonly setting: Setting) {}

  with(setting: Partial<Setting>): CommandLine {
    return new CommandLine(this.started, { ...this.setting, ...setting });
  }

  async run(...args: string[]): Promise<Finished> {
    const [program = "", ...words] = this.started;
    const { cwd, env = {}, input } = this.setting;
    const child = new Deno.Command(program, {
      args: [...words, ...args],
      cwd,
      env: {
        NO_COLOR: "1",
        FILESTORE_URL: "",
        FILESTORE_KEY: "",
        XDG_CONFIG_HOME: cwd,
        COLUMNS: "100",
        ...env,
      },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    // The command may end before it has read all.
    await writer.write(new TextEncoder().encode(input ?? "")).then(() => writer.close()).catch(() => {});
    const { code, stdout, stderr } = await child.output();
    const text = new TextDecoder();
    return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
  }
}

/** The words of a line of an example, of which some are in double quotes. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
