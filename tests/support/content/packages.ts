/** Published npm packages as test data: pinned in tests/deno.jsonc, taken from Deno's own cache. */
import { dirname, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow } from "../files_below.ts";

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

/** The files of packages whose path matches, sorted by path. */
export async function packageFiles(modules = MODULES, wanted = /^/): Promise<PackageFile[]> {
  const files: PackageFile[] = [];
  for (const [name, module] of Object.entries(modules)) {
    const root = rootOf(fileURLToPath(import.meta.resolve(module)));
    // Without the mark that Deno adds to each package that it unpacks.
    for (const file of filesBelow(root, /^(?!\.initialized$)/)) {
      const within = relative(root, file).split(sep).join("/");
      if (wanted.test(within)) files.push({ path: `${name}/${within}`, bytes: await Deno.readFile(file) });
    }
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The nearest folder above a module that contains a package.json. */
function rootOf(module: string): string {
  for (let folder = dirname(module); folder !== dirname(folder); folder = dirname(folder)) {
    if ([...Deno.readDirSync(folder)].some(({ name }) => name === "package.json")) return folder;
  }
  throw new Error(`${module} belongs to no package`);
}
