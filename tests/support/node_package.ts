/** Runs command lines of npm packages on a newer Node than the machine may have. Both come from npm, in pinned versions. */
import { fileURLToPath } from "node:url";
import { importsOf } from "./import_map.ts";

/** `name@version`, from the import map of packages that are run with npx. */
function packageOf(name: string): string {
  const found = importsOf(fileURLToPath(new URL("./npx/deno.json", import.meta.url)))[name];
  if (found === undefined) throw new Error(`${name} is not in tests/support/npx/deno.json`);
  return found.replace(/^npm:/, "");
}

/** The program of the pinned Node, to be started without npx, which takes longer than most commands. */
export async function packagedNode(): Promise<string> {
  const { code, stdout, stderr } = await runPackage("node", "node", ["-p", "process.execPath"], ".");
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command of the npm package `name`, to run in a folder. */
export function packageCommand(
  name: string,
  command: string,
  args: readonly string[],
  cwd: string,
): Deno.Command {
  const packages = ["node", name].flatMap((one) => ["-p", packageOf(one)]);
  return new Deno.Command("npx", {
    args: ["--prefer-offline", "-y", ...packages, "--", command, ...args],
    cwd,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs a command of the npm package `name` in a folder. */
export async function runPackage(...command: Parameters<typeof packageCommand>): Promise<Ended> {
  const { code, stdout, stderr } = await packageCommand(...command).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out ?? "", stderr: err ?? "" };
}
