/** Runs `use` with a temporary folder, and deletes the folder afterwards. */
export async function withScratchDirectory<T>(use: (path: string) => Promise<T>): Promise<T> {
  const path = await Deno.makeTempDir({ prefix: "filestore_" });
  try {
    return await use(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}
