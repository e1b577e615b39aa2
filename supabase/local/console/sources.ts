/** The console's sources, and the folder of the build of exactly these sources. */
import { join } from "node:path";
import { CONSOLE_CONFIG, CONSOLE_DIRECTORY, CONSOLE_WORK_DIRECTORY } from "../repository.ts";

export const BUILD_LOCK = join(CONSOLE_DIRECTORY, "deno.lock");
/** The inputs of Vite, relative to `supabase`: the console, and the files of the function that it imports. */
const VITE_INPUTS = [
  ...["index.html", "vite.config.ts", "public", "src"].map((name) => join("console", name)),
  "functions/api/version.ts",
  "functions/api/limits.ts",
  "functions/api/contract/limits.ts",
  "functions/api/files/disk_name.ts",
  "functions/api/runtime/hidden_characters.ts",
];
const SUPABASE = join(CONSOLE_DIRECTORY, "..");
/** Served beside the page, which reads the settings of each client from it. */
const CONNECT_DOCUMENT = join(CONSOLE_DIRECTORY, "../docs/connect.md");

/** Returns the folder of the build of exactly these sources. The folder exists only if the build is complete. */
export async function buildDirectory(): Promise<string> {
  return join(CONSOLE_WORK_DIRECTORY, "builds", await hashOfSources());
}

/** Copies Vite's inputs to a folder, in which the console has a folder of its own, as here. */
export async function copySources(destination: string): Promise<void> {
  for await (const file of sourceFiles()) {
    const target = join(destination, file);
    await Deno.mkdir(join(target, ".."), { recursive: true });
    await Deno.copyFile(join(SUPABASE, file), target);
  }
  await Deno.copyFile(CONNECT_DOCUMENT, join(destination, "console/public/connect.md"));
}

async function hashOfSources(): Promise<string> {
  const lines = await Promise.all(
    [CONSOLE_CONFIG, BUILD_LOCK, CONNECT_DOCUMENT].map((path) => Deno.readTextFile(path)),
  );
  const files: string[] = [];
  for await (const file of sourceFiles()) files.push(file);
  for (const file of files.sort()) {
    const content = await Deno.readFile(join(SUPABASE, file));
    lines.push(`${file} ${await sha256(content)}`);
  }
  return (await sha256(new TextEncoder().encode(lines.join("\n")))).slice(0, 16);
}

/** Yields paths relative to `supabase`. */
async function* sourceFiles(names: readonly string[] = VITE_INPUTS): AsyncGenerator<string> {
  for (const name of names) {
    const path = join(SUPABASE, name);
    const { isDirectory } = await Deno.stat(path);
    if (!isDirectory) yield name;
    else {
      const children = await Array.fromAsync(Deno.readDir(path), (entry) => join(name, entry.name));
      yield* sourceFiles(children);
    }
  }
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
