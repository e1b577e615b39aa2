/** Reads a limit from the SQL in `supabase/schemas`: one that tests must reach, and that the function does not know. */
import { join } from "node:path";
import { SCHEMAS_DIRECTORY } from "../../../supabase/local/repository.ts";

/**
 * The number with this name, which must be unique in the file: a constant of a function, or a column of the view of
 * limits.
 */
export function sqlNumber(file: string, name: string): number {
  const sql = Deno.readTextFileSync(join(SCHEMAS_DIRECTORY, file));
  const pattern = new RegExp(`\\b${name}(?: constant)?(?: \\w+)? := (\\d+);|(\\d+) as ${name}[,;]`, "g");
  const found = [...sql.matchAll(pattern)];
  const [only] = found;
  if (found.length !== 1 || !only) throw new Error(`${file} has ${found.length} numbers ${name}`);
  return Number(only[1] ?? only[2]);
}
