/**
 * The packages of the deployed function: the versions in import_map.json, and a lock file that the platform's Deno can read.
 */
import { assert, assertEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { filesBelow } from "../support/files_below.ts";
import { DENO_CONFIG, FUNCTION_CONFIG, IMPORT_MAP } from "../../supabase/local/repository.ts";

interface Lock {
  readonly version: string;
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, { readonly integrity?: string; readonly dependencies?: string[] }>>;
}

const { imports }: { imports: Record<string, string> } = await json(FUNCTION_CONFIG);
const lock: Lock = await json(join(dirname(FUNCTION_CONFIG), "deno.lock"));

async function json(path: string) {
  return JSON.parse(await Deno.readTextFile(path));
}

Deno.test("the function's import map is import_map.json: what it imports, with exact versions", async () => {
  const all: { imports: Record<string, string> } = await json(IMPORT_MAP);
  assertEquals(imports, all.imports);
  const imported = new Set<string>();
  for (const file of filesBelow(dirname(FUNCTION_CONFIG), /\.ts$/)) {
    for (const [, name] of Deno.readTextFileSync(file).matchAll(/\bfrom "([^".][^"]*)"/g)) {
      if (name !== undefined && !name.startsWith("node:")) imported.add(name);
    }
  }
  assertEquals(Object.keys(imports).sort(), [...imported].sort());
  for (const specifier of Object.values(imports)) {
    assert(/^npm:(?:@[\w-]+\/)?[\w-]+@\d+\.\d+\.\d+$/.test(specifier), specifier);
  }
});

Deno.test("its lock has each of them and all that they need, with integrity, in the format of the hosted Deno", () => {
  // Deno 2.1.4, with which the platform bundles, rejects version 5.
  assertEquals(lock.version, "4");
  assertEquals(Object.keys(lock.specifiers).sort(), Object.values(imports).sort());
  const needed = new Set<string>();
  const need = (name: string) => {
    if (needed.has(name)) return;
    needed.add(name);
    const held = lock.npm[name];
    assert(/^sha512-[A-Za-z0-9+/]{86}==$/.test(held?.integrity ?? ""), name);
    for (const dependency of held?.dependencies ?? []) need(heldAs(dependency));
  };
  for (const [specifier, version] of Object.entries(lock.specifiers)) {
    need(`${specifier.slice("npm:".length, specifier.lastIndexOf("@"))}@${version}`);
  }
  assertEquals([...needed].sort(), Object.keys(lock.npm).sort());
});

Deno.test("it holds the packages that the tests ran with, to the byte", async () => {
  const tested: Lock = await json(join(dirname(DENO_CONFIG), "deno.lock"));
  for (const [name, { integrity }] of Object.entries(lock.npm)) {
    // A later format of lock files adds the peer dependencies to the name.
    const found = Object.entries(tested.npm).filter(([other]) =>
      other === name || other.startsWith(`${name}_`)
    );
    assertEquals(found.map(([, other]) => other.integrity), [integrity], name);
  }
});

/** A lock file names the version of a dependency only if it contains several versions. */
function heldAs(dependency: string): string {
  if (dependency in lock.npm) return dependency;
  const [found = dependency, ...others] = Object.keys(lock.npm).filter((name) =>
    name.slice(0, name.lastIndexOf("@")) === dependency
  );
  assertEquals(others, [], dependency);
  return found;
}
