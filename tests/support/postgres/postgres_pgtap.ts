/** Runs the files of `supabase/tests` as `supabase test db` does, and reads their TAP. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { PostgresServer } from "./postgres.ts";

/** pgTAP is plain SQL and comes with PGlite. Never called; see `postgres.ts`. */
const PGTAP = {
  source: () => import.meta.resolve("@electric-sql/pglite/pgtap"),
  load: () => import("@electric-sql/pglite/pgtap"),
};

/** The first statements of a session of `supabase test db`. */
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

/** Returns the number of assertions that passed. Throws if an assertion failed or the plan does not match. */
export function assertTap(lines: readonly string[]): number {
  const plan = Number(/^1\.\.(\d+)$/.exec(lines[0] ?? "")?.[1]);
  const held = lines.filter((line) => /^ok \d+/.test(line)).length;
  if (held === plan) return held;
  const failures = lines.filter((line) => !/^ok \d+/.test(line));
  throw new Error(`${held} of ${plan} assertions hold\n${failures.join("\n")}`);
}

const DIRECTORY = new URL("../../../supabase/tests/", import.meta.url);

/** Names of the pgTAP files, in order. */
export const PGTAP_FILES = [...Deno.readDirSync(DIRECTORY)].map(({ name }) => name)
  .filter((name) => name.endsWith(".sql")).sort();

export function readPgtap(file: string): Promise<string> {
  return Deno.readTextFile(new URL(file, DIRECTORY));
}

/** pgTAP returns text in one column, sometimes several lines at once. Other rows are not TAP. */
export function tapLines(columns: readonly unknown[]): string[] {
  const [text] = columns;
  if (columns.length !== 1 || typeof text !== "string") return [];
  return text.split("\n").filter((line) => /^(1\.\.|ok |not ok |#)/.test(line));
}
