import { join } from "node:path";

/**
 * Sorted paths, each beginning with `folder`, of the files at any depth whose names match. Skips folders named in
 * `without`.
 */
export function filesBelow(folder: string, pattern: RegExp, without: readonly string[] = []): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    if (isDirectory) return without.includes(name) ? [] : filesBelow(path, pattern, without);
    return pattern.test(name) ? [path] : [];
  }).sort();
}
