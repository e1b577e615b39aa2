/** Runs the files of `supabase/tests` as `supabase test db` does, and reads their TAP. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { PostgresServer } from "./postgres.ts";

/** pgTAP is plain SQL and comes with PGlite; never called, see `postgres.ts`. */
const PGTAP = {
  source: () => import.meta.resolve("@electric-sql/pglite/pgtap"),
  load: () => import("@electric-sql/pglite/pgtap"),
};

/** What a session of `supabase test db` begins with. */
export const PGTAP_SESSION = `
  create schema if not exists extensions;
  create extension if not exists pgtap with schema extensions;
  set search_path = "$user", public, extensions;`;

/** Makes `create extension pgtap` work on a server. */
export async function installPgtap(server: PostgresServer): Promise<void> {
  const module = createRequire(PGTAP.source()).resolve("@electric-sql/pglite/pgtap");
  const { success, stderr } = await new Deno.Command("tar", {
    args: [
      "--extract",
      "--gzip",
      "--file",
      join(dirname(dirname(module)), "pgtap.tar.gz"),
      "--directory",
      server.extensionFolder,
      "--strip-components=3",
      "share/postgresql/extension",
    ],
  }).output();
  if (!success) throw new Error(`pgTAP is not unpacked: ${new TextDecoder().decode(stderr)}`);
}

/** Throws with what failed: an assertion, or a plan that does not hold. Answers how many assertions held. */
export function assertTap(lines: readonly string[]): number {
  const plan = Number(/^1\.\.(\d+)$/.exec(lines[0] ?? "")?.[1]);
  const held = lines.filter((line) => /^ok \d+/.test(line)).length;
  if (held === plan) return held;
  const failures = lines.filter((line) => !/^ok \d+/.test(line));
  throw new Error(`${held} of ${plan} assertions hold\n${failures.join("\n")}`);
}
