/** Command lines of npm packages that need a newer Node than a machine may have: both come from npm, as versions say. */
import { fileURLToPath } from "node:url";
import { z } from "zod";

const importMap = z.object({ imports: z.record(z.string(), z.string()) });

/** `name@version`, as the import map has it. */
function packageOf(name: string): string {
  const map = fileURLToPath(new URL("../../import_map.json", import.meta.url));
  const { imports } = importMap.parse(JSON.parse(Deno.readTextFileSync(map)));
  const found = imports[name]?.replace(/^npm:/, "");
  if (found === undefined) throw new Error(`${name} is not in import_map.json`);
  return found;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the package `name` in a folder. */
export async function runPackage(
  name: string,
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<Ended> {
  const packages = ["node", name].flatMap((one) => ["-p", packageOf(one)]);
  const { code, stdout, stderr } = await new Deno.Command("npx", {
    args: ["--prefer-offline", "-y", ...packages, "--", command, ...args],
    cwd,
    env: { NO_COLOR: "1" },
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, stdout: out ?? "", stderr: err ?? "" };
}
