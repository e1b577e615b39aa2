/** Bundles the client: Deno's own bundler, so that the repository needs no other one for it. */
import { fileURLToPath } from "node:url";

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const CONFIG = at("../deno.json");
/** The one file: the command, and the library for programs in Node, Deno and Bun. */
const ONE_FILE = at("../main.ts");
/** The library alone, which browsers can load, too. */
const LIBRARY = at("../mod.ts");

/** The name of the one file in a package, beside a console and in documents. */
export const ONE_FILE_NAME = "filestore.mjs";

/** For the packages in it that are CommonJS: Node gives a module no `require`. */
const HEAD = `#!/usr/bin/env node
import{createRequire}from"node:module";const require=createRequire(import.meta.url);
`;

export async function bundleOneFile(): Promise<string> {
  const text = await bundle(ONE_FILE, "deno");
  return HEAD + text.replace(/^#!.*\n/, "");
}

/** `cjs`: for programs that load it with `require`. */
export function bundleLibrary(format: "esm" | "cjs"): Promise<string> {
  return bundle(LIBRARY, "browser", format);
}

/** Throws with the bundler's message. The first bundle ever downloads the bundler. */
async function bundle(entry: string, platform: "deno" | "browser", format = "esm"): Promise<string> {
  const options = ["--quiet", "--minify", "--keep-names", "--platform", platform, "--format", format];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", ...options, "--config", CONFIG, entry],
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  if (!success) throw new Error(`The client could not be bundled: ${text.decode(stderr).trim()}`);
  return text.decode(stdout);
}
