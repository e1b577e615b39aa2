/** What an import map names: in a file of its own, or in the configuration of Deno, which may have comments. */
import { z } from "zod";

const importMap = z.object({ imports: z.record(z.string(), z.string()) });

/** Name → specifier, with its version. */
export function importsOf(file: string): Readonly<Record<string, string>> {
  const text = Deno.readTextFileSync(file).replaceAll(/^\s*\/\/.*$/gm, "");
  return importMap.parse(JSON.parse(text)).imports;
}
