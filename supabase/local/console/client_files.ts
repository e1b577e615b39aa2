/** The client beside the console, so that a sandbox with the address alone can download it. */
import { fileURLToPath } from "node:url";
import { bundleOneFile, ONE_FILE_NAME } from "../../client/build/bundle.ts";

/** The client of one file in Python, which is served as it is. */
const PYTHON_NAME = "filestore.py";
const PYTHON = fileURLToPath(new URL(`../../client/${PYTHON_NAME}`, import.meta.url));

export const CLIENT_FILES: readonly string[] = [ONE_FILE_NAME, PYTHON_NAME];

let bundled: Promise<string> | undefined;

/** Returns the text of a client file. Bundles the first time, in a process of its own. */
export async function clientFile(name: string): Promise<string> {
  if (name === PYTHON_NAME) return await Deno.readTextFile(PYTHON);
  bundled ??= bundleOneFile();
  try {
    return await bundled;
  } catch (error) {
    // The next request tries again: the first bundle ever downloads the bundler.
    bundled = undefined;
    throw error;
  }
}
