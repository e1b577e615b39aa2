/** Published npm packages as test data: pinned in tests/deno.jsonc, taken from Deno's own cache. */
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** One file of a package. */
export interface PackageFile {
  /** The path under which a project stores it: `{package}/{path within the package}`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Imported by name so that Deno caches them before the test runs. Their code never runs. */
export const keepInCache = [
  () => import("fixture-flag-icons/package.json", { with: { type: "json" } }),
  () => import("fixture-leaflet/package.json", { with: { type: "json" } }),
  () => import("fixture-linguist-languages/package.json", { with: { type: "json" } }),
  () => import("fixture-web-tree-sitter"),
];

/** A module of each package, by which its folder is found. */
const MODULES: Readonly<Record<string, string>> = {
  "flag-icons": "fixture-flag-icons/package.json",
  "leaflet": "fixture-leaflet/package.json",
  "linguist-languages": "fixture-linguist-languages/package.json",
  "web-tree-sitter": "fixture-web-tree-sitter",
};

/** A file that Deno adds to each package that it unpacks. */
const CACHE_MARK = ".initialized";

/** Every file of the packages, sorted by path. */
export async function packageFiles(): Promise<PackageFile[]> {
  const files: PackageFile[] = [];
  for (const [name, module] of Object.entries(MODULES)) {
    const root = await rootOf(fileURLToPath(import.meta.resolve(module)));
    for await (const file of filesBelow(root)) {
      const within = relative(root, file).split(sep).join("/");
      files.push({ path: `${name}/${within}`, bytes: await Deno.readFile(file) });
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The nearest folder above a module that contains a package.json. */
export async function rootOf(module: string): Promise<string> {
  for (let folder = join(module, ".."); folder !== join(folder, ".."); folder = join(folder, "..")) {
    try {
      await Deno.stat(join(folder, "package.json"));
      return folder;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  throw new Error(`${module} belongs to no package`);
}

/** The files of a folder, at any depth. */
export async function* filesBelow(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesBelow(join(folder, name));
    else if (isFile && name !== CACHE_MARK) yield join(folder, name);
  }
}
