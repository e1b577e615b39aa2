/** Packages from the lock, then Vite, in a folder of their own: the repository needs no node_modules. */
import { join } from "node:path";
import { CONSOLE_WORK_DIRECTORY, IMPORT_MAP } from "../repository.ts";
import { StartupError } from "../startup_error.ts";
import { packageJson } from "./packages.ts";
import { BUILD_LOCK, buildDirectory, copySources } from "./sources.ts";

/** The build of the sources as they are; made if there is none. One build at a time, whoever asks. */
export async function bundle(): Promise<string> {
  const ready = await buildDirectory();
  if (await exists(ready)) return ready;
  await Deno.mkdir(join(CONSOLE_WORK_DIRECTORY, "builds"), { recursive: true });
  using lock = await Deno.open(join(CONSOLE_WORK_DIRECTORY, "lock"), { create: true, write: true });
  await lock.lock(true);
  if (await exists(ready)) return ready;
  await writePackages("frozen");
  await deno(["install", "--quiet", "--frozen"]);
  // A copy: Vite finds packages from where the sources are.
  await Deno.remove(join(CONSOLE_WORK_DIRECTORY, "src"), { recursive: true }).catch(() => {});
  await copySources(CONSOLE_WORK_DIRECTORY);
  const unfinished = `${ready}.unfinished`;
  await Deno.remove(unfinished, { recursive: true }).catch(() => {});
  await deno(["run", "-A", "--quiet", "npm:vite", "build", "--logLevel", "warn", "--outDir", unfinished]);
  await Deno.rename(unfinished, ready);
  return ready;
}

/** Writes the build's lock anew, after a version in the import map changed. */
export async function updateLock(): Promise<void> {
  await Deno.mkdir(CONSOLE_WORK_DIRECTORY, { recursive: true });
  await writePackages("free");
  await deno(["install", "--quiet", "--frozen=false"]);
  await Deno.copyFile(join(CONSOLE_WORK_DIRECTORY, "deno.lock"), BUILD_LOCK);
}

async function writePackages(lock: "frozen" | "free"): Promise<void> {
  const importMap = await Deno.readTextFile(IMPORT_MAP);
  await Deno.writeTextFile(join(CONSOLE_WORK_DIRECTORY, "package.json"), packageJson(importMap));
  await Deno.writeTextFile(join(CONSOLE_WORK_DIRECTORY, "deno.json"), `{"nodeModulesDir":"manual"}`);
  if (lock === "frozen") await Deno.copyFile(BUILD_LOCK, join(CONSOLE_WORK_DIRECTORY, "deno.lock"));
  else await Deno.remove(join(CONSOLE_WORK_DIRECTORY, "deno.lock")).catch(() => {});
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
  // Whoever ends the build ends what it runs.
  const stop = () => child.kill();
  if (Deno.build.os !== "windows") Deno.addSignalListener("SIGTERM", stop);
  const { success } = await child.status;
  if (Deno.build.os !== "windows") Deno.removeSignalListener("SIGTERM", stop);
  if (!success) throw new StartupError(`deno ${args[0]} failed while the console was built.`);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
