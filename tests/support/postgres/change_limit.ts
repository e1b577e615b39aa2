/** Changes a limit of the database, so that a test can reach it. */
import { assert } from "@std/assert";

/**
 * Returns the statements that give a limit of `supabase/schemas/01_limits.sql` another value. `definitionOf` reads a
 * definition.
 */
export async function limitChange(
  name: string,
  value: number,
  definitionOf: (call: string) => Promise<string | undefined>,
): Promise<string> {
  const view = await definitionOf("pg_get_viewdef('filestore.limits'::regclass)") ?? "";
  const changed = view.replace(new RegExp(`\\d+ AS ${name}\\b`), `${value} AS ${name}`);
  assert(changed.includes(`${value} AS ${name}`));
  // Plans contain the limits as constants, and only replacing the function builds new plans.
  const limits = await definitionOf("pg_get_functiondef('filestore.limits'::regproc)");
  return `create or replace view filestore.limits as ${changed}\n${limits}`;
}
