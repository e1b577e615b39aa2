/** The files of a folder and those below it. */
import { join } from "node:path";

/** Paths of the files whose names match, each beginning with `folder`; sorted. Folders named in `without` are left out. */
export function filesBelow(folder: string, pattern: RegExp, without: readonly string[] = []): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    if (isDirectory) return without.includes(name) ? [] : filesBelow(path, pattern, without);
    return pattern.test(name) ? [path] : [];
  }).sort();
}
