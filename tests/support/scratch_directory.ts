/** A folder that is gone after the test. */
export async function withScratchDirectory<T>(use: (path: string) => Promise<T>): Promise<T> {
  const path = await Deno.makeTempDir({ prefix: "filestore_" });
  try {
    return await use(path);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}
