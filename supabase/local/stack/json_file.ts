/** JSON files that only their owner may read, written whole or not at all. */

/** The parsed file, or null where there is none. Whoever reads it checks the shape. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await Deno.readTextFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Replaces the file in one step: a reader sees the old content or the new one. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  await Deno.writeTextFile(draft, JSON.stringify(value, null, 2) + "\n", { mode: 0o600, createNew: true });
  await Deno.rename(draft, path);
}
