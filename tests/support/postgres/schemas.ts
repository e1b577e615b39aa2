/** The files of `supabase/schemas`. */
import { join } from "node:path";
import { SCHEMAS_DIRECTORY } from "../../../supabase/local/repository.ts";

/** Names of the files in the order in which they are applied. */
export function listSchemas(): string[] {
  return [...Deno.readDirSync(SCHEMAS_DIRECTORY)].map(({ name }) => name).filter((name) =>
    name.endsWith(".sql")
  )
    .sort();
}

/** All files in a folder of schemas, as one script. */
export async function scriptOf(directory: string): Promise<string> {
  return (await Promise.all(listSchemas().map((name) => Deno.readTextFile(join(directory, name))))).join("");
}
