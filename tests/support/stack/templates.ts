/** Folders that are slow to create: each is created once for its sources, and copied from then on. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exists } from "../../../supabase/local/exists.ts";

const TEMPLATES_DIRECTORY = fileURLToPath(new URL("../../../supabase/.temp/tests", import.meta.url));

/**
 * Copies a template to `to`, which must not exist, with owners and modes. If no template for the content of `madeFrom`
 * (files, or folders of files) exists, `make` creates it, in a folder that must not exist either.
 */
export async function copyTemplate(
  name: string,
  madeFrom: readonly string[],
  make: (directory: string) => Promise<void>,
  to: string,
): Promise<void> {
  const template = join(TEMPLATES_DIRECTORY, `${name}-${await fingerprint(madeFrom)}`);
  if (!await exists(template)) {
    await Deno.mkdir(TEMPLATES_DIRECTORY, { recursive: true });
    const draft = await Deno.makeTempDir({ dir: TEMPLATES_DIRECTORY, prefix: "draft-" });
    try {
      await make(join(draft, name));
      await Deno.rename(join(draft, name), template);
    } catch (error) {
      // Another test process has created the same template first.
      if (!await exists(template)) throw error;
    } finally {
      await Deno.remove(draft, { recursive: true });
    }
  }
  await copyDirectory(template, to);
}

/** Copies owners and modes, too. `to` must not exist. */
export async function copyDirectory(from: string, to: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("cp", { args: ["-a", from, to] }).output();
  if (!success) throw new Error(`cp fails: ${new TextDecoder().decode(stderr)}`);
}

async function fingerprint(paths: readonly string[]): Promise<string> {
  const parts: string[] = [];
  for (const path of paths) {
    const { isDirectory } = await Deno.stat(path);
    const files = isDirectory ? Array.from(Deno.readDirSync(path), ({ name }) => join(path, name)) : [path];
    for (const file of files.sort()) {
      if ((await Deno.stat(file)).isFile) parts.push(file, await Deno.readTextFile(file));
    }
  }
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(parts.join("\0")));
  return new Uint8Array(digest).toHex().slice(0, 16);
}
