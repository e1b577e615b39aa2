/** What a visit of the console fetches, as it goes over the wire. */
import { join } from "node:path";
import { buildDirectory } from "../../../supabase/local/console/sources.ts";

/** The most that a first visit may fetch before the sign-in view is there, compressed. */
export const FIRST_LOAD_BYTES_MAX = 150 * 1024;

export interface FirstLoad {
  /** Files of the build that were fetched. */
  readonly names: readonly string[];
  /** Of all of them, each compressed with gzip. */
  readonly bytes: number;
}

/** Takes the addresses that were fetched. Throws if one is not below `start`, the console's own address. */
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
