/** The client beside the console, so that a sandbox with the address alone can download it. */
import { bundleOneFile, ONE_FILE_NAME } from "../../client/build/bundle.ts";

/** The clients in Python, which are served as they are. */
const PYTHON_NAMES: readonly string[] = ["filestore.py", "filestore_deepagents.py"];
const CLIENT = new URL("../../client/", import.meta.url);

export const CLIENT_FILES: readonly string[] = [ONE_FILE_NAME, ...PYTHON_NAMES];

let bundled: Promise<string> | undefined;

/** Returns the text of a client file. Bundles the first time, in a process of its own. */
export async function clientFile(name: string): Promise<string> {
  if (PYTHON_NAMES.includes(name)) return await Deno.readTextFile(new URL(name, CLIENT));
  bundled ??= bundleOneFile();
  try {
    return await bundled;
  } catch (error) {
    // The next request tries again: the first bundle ever downloads the bundler.
    bundled = undefined;
    throw error;
  }
}
