/** JSON files that only their owner can read, written atomically. */

/** Returns the parsed file, or null if it does not exist. The caller validates its shape. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await Deno.readTextFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Replaces the file atomically: a reader sees either the old or the new content. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  await Deno.writeTextFile(temporary, JSON.stringify(value, null, 2) + "\n", {
    mode: 0o600,
    createNew: true,
  });
  await Deno.rename(temporary, path);
}
