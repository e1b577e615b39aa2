/** Installs the locked packages and runs Vite in a separate work folder: the repository needs no node_modules. */
import { join } from "node:path";
import { CONSOLE_CONFIG, CONSOLE_WORK_DIRECTORY } from "../repository.ts";
import { exists } from "../exists.ts";
import { StartupError } from "../startup_error.ts";
import { BUILD_LOCK, buildDirectory, copySources } from "./sources.ts";

/** Returns the folder of the build of the current sources, building it if necessary. A lock allows one build at a time. */
export async function bundle(): Promise<string> {
  const ready = await buildDirectory();
  if (await exists(ready)) return ready;
  await Deno.mkdir(join(CONSOLE_WORK_DIRECTORY, "builds"), { recursive: true });
  using lock = await Deno.open(join(CONSOLE_WORK_DIRECTORY, "lock"), { create: true, write: true });
  await lock.lock(true);
  if (await exists(ready)) return ready;
  await writePackages();
  await deno(["install", "--quiet", "--frozen"]);
  // A copy, because Vite resolves packages relative to the sources.
  for (const name of ["console", "functions"]) {
    await Deno.remove(join(CONSOLE_WORK_DIRECTORY, name), { recursive: true }).catch(() => {});
  }
  await copySources(CONSOLE_WORK_DIRECTORY);
  const unfinished = `${ready}.unfinished`;
  await Deno.remove(unfinished, { recursive: true }).catch(() => {});
  const build = ["build", "console", "--logLevel", "warn", "--emptyOutDir", "--outDir", unfinished];
  await deno(["run", "-A", "--quiet", "npm:vite", ...build]);
  await Deno.rename(unfinished, ready);
  return ready;
}

async function writePackages(): Promise<void> {
  const { imports } = JSON.parse(await Deno.readTextFile(CONSOLE_CONFIG));
  const config = JSON.stringify({ nodeModulesDir: "manual", imports });
  await Deno.writeTextFile(join(CONSOLE_WORK_DIRECTORY, "deno.json"), config);
  // Vite requires one.
  await Deno.writeTextFile(join(CONSOLE_WORK_DIRECTORY, "package.json"), '{"private":true,"type":"module"}');
  await Deno.copyFile(BUILD_LOCK, join(CONSOLE_WORK_DIRECTORY, "deno.lock"));
}

async function deno(args: readonly string[]): Promise<void> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: CONSOLE_WORK_DIRECTORY,
    env: { NODE_ENV: "production", DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  });
  const child = command.spawn();
  // Ending the build must also end its child process.
  const stop = () => child.kill();
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", stop);
  const { success } = await child.status;
  if (Deno.build.os !== "windows") Deno.removeSignalListener("SIGTERM", stop);
  if (!success) throw new StartupError(`deno ${args[0]} failed while building the console.`);
}
