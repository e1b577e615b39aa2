/** A copy of a data folder beside it, made before an upgrade changes the folder. */
import { join } from "node:path";
import { LEFT_OUT_OF_COPIES, STORAGE_FOLDER } from "./data_directory.ts";

/**
 * Copies a data folder that no stack uses. `destination` exists only once the copy is complete. If the copy fails, what
 * it has written is removed.
 */
export async function copyFolder(path: string, destination: string): Promise<void> {
  const unfinished = `${destination}.part`;
  try {
    await copyEntries(path, unfinished, Deno.copyFile, LEFT_OUT_OF_COPIES);
    await Deno.rename(unfinished, destination);
  } catch (error) {
    await Deno.remove(unfinished, { recursive: true }).catch(() => {/* never created */});
    throw error;
  }
}

async function copyEntries(
  from: string,
  to: string,
  copyFile: (from: string, to: string) => Promise<void>,
  leftOut: readonly string[] = [],
): Promise<void> {
  await Deno.mkdir(to, { mode: 0o700 });
  for await (const { name } of Deno.readDir(from)) {
    if (leftOut.includes(name)) continue;
    const [source, target] = [join(from, name), join(to, name)];
    // Follows a symbolic link, such as that of a person who keeps the objects on another disk.
    if (!(await Deno.stat(source)).isDirectory) await copyFile(source, target);
    else await copyEntries(source, target, name === STORAGE_FOLDER ? linkOrCopy : copyFile);
  }
}

/** The stack never changes the file of an object, it only replaces or removes it. So a link takes no space of its own. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await Deno.link(from, to).catch(() => Deno.copyFile(from, to));
}
