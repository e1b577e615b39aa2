/** A number of `supabase/schemas` that the function does not need, so that a test can go to its edge. */
import { join } from "node:path";
import { SCHEMAS_DIRECTORY } from "../../../supabase/local/repository.ts";

/** The only number that is assigned to this name, a constant or a limit, in this file. */
export function sqlNumber(file: string, name: string): number {
  const sql = Deno.readTextFileSync(join(SCHEMAS_DIRECTORY, file));
  const found = [...sql.matchAll(new RegExp(`\\b${name}(?: constant)?(?: \\w+)? := (\\d+);`, "g"))];
  const [only] = found;
  if (found.length !== 1 || !only) throw new Error(`${file} has ${found.length} numbers ${name}`);
  return Number(only[1]);
}
