/** Files that a visit of the console loads, with their compressed sizes. */
import { join } from "node:path";
import { buildDirectory } from "../../../supabase/local/console/sources.ts";

/** Upper bound of a first visit's compressed files, until the sign-in view is shown. */
export const FIRST_LOAD_BYTES_MAX = 150 * 1024;

export interface FirstLoad {
  /** Names of the loaded files of the build. */
  readonly names: readonly string[];
  /** The sum of their sizes, each compressed with gzip. */
  readonly bytes: number;
}

/** Takes the loaded addresses. Throws if one is not below `start`, the console's own address. */
export async function measureLoad(start: string, fetched: readonly string[]): Promise<FirstLoad> {
  const names = fetched.map((url) => {
    if (!url.startsWith(start)) throw new Error(`${url} is not the console's`);
    return url.slice(start.length) || "index.html";
  });
  const build = await buildDirectory();
  let bytes = 0;
  for (const name of names.filter((one) => one !== "config.json")) {
    const file = await Deno.open(join(build, name));
    bytes += (await new Response(file.readable.pipeThrough(new CompressionStream("gzip"))).bytes()).length;
  }
  return { names, bytes };
}
