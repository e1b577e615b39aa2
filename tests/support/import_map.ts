/** Reads an import map from a file of its own, or from Deno's configuration, which may contain comments. */
import { z } from "zod";

const importMap = z.object({ imports: z.record(z.string(), z.string()) });

/** Maps each name to its specifier, with the version. */
export function importsOf(file: string): Readonly<Record<string, string>> {
  const text = Deno.readTextFileSync(file).replaceAll(/^\s*\/\/.*$/gm, "");
  return importMap.parse(JSON.parse(text)).imports;
}
