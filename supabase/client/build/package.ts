/** `deno task client`: writes the client as an npm package, which `npm pack` turns into one file. */
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, CommanderError } from "commander";
import { VERSION } from "../../functions/api/version.ts";
import { printLine, printNotice } from "../command/output.ts";
import { messageOf } from "../library/errors.ts";
import { bundleLibrary, bundleOneFile, ONE_FILE_NAME } from "./bundle.ts";
import { declarations } from "./types.ts";

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** No dependencies, and no script that runs when it is installed. */
const PACKAGE = {
  name: "filestore",
  version: VERSION,
  description: "The files of a Filestore project: a library, and the command filestore",
  license: "MIT",
  type: "module",
  engines: { node: ">=20" },
  bin: { filestore: ONE_FILE_NAME },
  main: "index.cjs",
  types: "index.d.cts",
  exports: {
    ".": {
      import: { types: "./index.d.ts", default: "./index.js" },
      require: { types: "./index.d.cts", default: "./index.cjs" },
    },
    "./package.json": "./package.json",
  },
  files: ["*.js", "*.cjs", "*.mjs", "**/*.d.ts", "**/*.d.cts", "README.md", "LICENSE"],
  sideEffects: false,
};

export async function writePackage(directory: string): Promise<void> {
  const all = new Map<string, string>([
    ...await declarations(),
    ["index.js", await bundleLibrary("esm")],
    ["index.cjs", await bundleLibrary("cjs")],
    [ONE_FILE_NAME, await bundleOneFile()],
    ["package.json", `${JSON.stringify(PACKAGE, null, 2)}\n`],
    ["README.md", await Deno.readTextFile(at("./readme.txt"))],
    ["LICENSE", await Deno.readTextFile(at("../../../LICENSE"))],
  ]);
  for (const [name, text] of all) {
    const path = join(directory, name);
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
  await Deno.chmod(join(directory, ONE_FILE_NAME), 0o755);
}

if (import.meta.main) {
  const program = new Command("deno task client")
    .description("Writes the client as an npm package.")
    .requiredOption("--out <dir>", "the folder of the package")
    .exitOverride();
  try {
    program.parse(Deno.args, { from: "user" });
    const { out } = program.opts<{ out: string }>();
    await writePackage(resolve(out));
    await printLine(resolve(out));
  } catch (error) {
    if (!(error instanceof CommanderError)) printNotice(`Error: ${messageOf(error)}`);
    Deno.exitCode = error instanceof CommanderError ? error.exitCode && 2 : 1;
  }
}
