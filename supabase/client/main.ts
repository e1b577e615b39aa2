#!/usr/bin/env node
/** The one file: the command `filestore`, and for programs that import it the library. */
import { realpathSync } from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { runCommandLine } from "./command/program.ts";

export * from "./mod.ts";

if (isStarted()) {
  // Whoever reads the output may stop reading, as `head` does.
  process.stdout.on("error", (error) => process.exit(Reflect.get(error, "code") === "EPIPE" ? 0 : 1));
  process.exitCode = await runCommandLine(process.argv.slice(2), { name: "filestore" });
}

/** Whether this file is the program, also behind a symbolic link, as npm makes one. */
function isStarted(): boolean {
  const [, program] = process.argv;
  try {
    return program !== undefined && pathToFileURL(realpathSync(program)).href === import.meta.url;
  } catch {
    return false;
  }
}
