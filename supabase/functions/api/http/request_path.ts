/** The file a URL names. */
import type { Context } from "../context.ts";
import { decodePath } from "./path.ts";

/** The decoded path after `prefix`, such as `/files/`. Throws INVALID_PATH. */
export function filePath(context: Context, prefix: string): string {
  return decodePath(context.rawPath.slice(prefix.length));
}
