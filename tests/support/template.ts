/**
 * A data folder of the local stack that is initialised and migrated already. Making one takes some two and a half
 * seconds, copying one a tenth of that, and each test file wants its own.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startStack } from "../../supabase/local/stack.ts";

const at = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const TEMPLATES_DIRECTORY = at("../../supabase/.temp/tests");
/** What a template depends on: the schema, what comes before it, and the database itself. */
const MADE_FROM = [
  at("../../supabase/migrations"),
  at("../../supabase/local/platform.sql"),
  at("../../supabase/local/pglite_database.ts"),
  at("../../import_map.json"),
];

/** A fresh data folder, ready to be opened by a stack. The caller removes it. */
export async function freshDataDirectory(): Promise<string> {
  const template = await ensureTemplate();
  const directory = await Deno.makeTempDir({ prefix: "filestore-tests-" });
  await copyDirectory(template, directory);
  return directory;
}

async function ensureTemplate(): Promise<string> {
  const template = join(TEMPLATES_DIRECTORY, await fingerprint());
  if (await exists(template)) return template;
  await Deno.mkdir(TEMPLATES_DIRECTORY, { recursive: true });
  const draft = await Deno.makeTempDir({ dir: TEMPLATES_DIRECTORY, prefix: "draft-" });
  const stack = await startStack({ dataDir: draft, port: 0, demo: false });
  await stack.stop();
  try {
    await Deno.rename(draft, template);
  } catch (error) {
    await Deno.remove(draft, { recursive: true });
    // Another test process was faster; its template is as good.
    if (!(await exists(template))) throw error;
  }
  return template;
}

async function fingerprint(): Promise<string> {
  const parts: string[] = [];
  for (const path of MADE_FROM) {
    const { isDirectory } = await Deno.stat(path);
    const files = isDirectory ? Array.from(Deno.readDirSync(path), ({ name }) => join(path, name)) : [path];
    for (const file of files.sort()) {
      if ((await Deno.stat(file)).isFile) parts.push(file, await Deno.readTextFile(file));
    }
  }
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(parts.join("\0")));
  return new Uint8Array(digest).toHex().slice(0, 16);
}

async function copyDirectory(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true, mode: 0o700 });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyDirectory(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
