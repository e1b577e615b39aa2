/** Reads the import statements of a folder of TypeScript files, and finds those that break its floor plan. */
import { dirname, join, normalize, relative } from "node:path";
import { filesBelow } from "../support/files_below.ts";

/** File → the files that it imports, both relative to the folder, with `/`. Type-only and dynamic imports count. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/**
 * Rooms from top to bottom, each a file or a folder of the root. A room may import from itself and from rooms below it.
 */
export type Floors = readonly string[];

const SPECIFIERS = [
  /^\s*(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']/gm,
  /^\s*import\s*["']([^"']+)["']/gm,
  /\bimport\(\s*["']([^"']+)["']\s*\)/g,
];

/**
 * The graph of all `.ts` and `.tsx` files below `root`. Leaves out packages, files outside `root` and folders named in
 * `without`.
 */
export async function readImports(root: string, without: readonly string[] = []): Promise<ImportGraph> {
  const sources = new Map<string, string>();
  for (const path of filesBelow(root, /\.tsx?$/, without)) {
    sources.set(relative(root, path).replaceAll("\\", "/"), await Deno.readTextFile(path));
  }
  return importGraph(sources);
}

/** The specifiers that a source imports, unresolved: packages and files. */
export function readSpecifiers(source: string): string[] {
  return SPECIFIERS.flatMap((pattern) =>
    [...source.matchAll(pattern)].map(([, specifier = ""]) => specifier)
  );
}

export function importGraph(sources: ReadonlyMap<string, string>): ImportGraph {
  const graph = new Map<string, string[]>();
  for (const [file, source] of sources) {
    const imported = readSpecifiers(source).filter((specifier) => specifier.startsWith("."))
      .map((specifier) => normalize(join(dirname(file), specifier)));
    graph.set(file, [...new Set(imported)].filter((path) => sources.has(path)));
  }
  return graph;
}

/** The room that a file lies in: its folder below the root, or the file itself. */
export function roomOf(file: string): string {
  return file.split("/", 1)[0] ?? file;
}

/** Files in a room that the plan lacks, and rooms of the plan that contain no file. */
export function unplannedRooms(graph: ImportGraph, floors: Floors): string[] {
  const rooms = new Set([...graph.keys()].map(roomOf));
  return [...rooms].filter((room) => !floors.includes(room)).concat(
    floors.filter((room) => !rooms.has(room)),
  );
}

/** Imports from a room on a higher floor, as `file → imported`. */
export function upwardImports(graph: ImportGraph, floors: Floors): string[] {
  return edges(graph).filter(([file, imported]) =>
    floors.indexOf(roomOf(imported)) < floors.indexOf(roomOf(file))
  )
    .map(([file, imported]) => `${file} → ${imported}`);
}

/** Imports of a room by rooms other than `allowed`. */
export function importsBesides(graph: ImportGraph, room: string, allowed: readonly string[]): string[] {
  return edges(graph).filter(([file, imported]) =>
    roomOf(imported) === room && roomOf(file) !== room && !allowed.includes(roomOf(file))
  ).map(([file, imported]) => `${file} → ${imported}`);
}

/** These files and all that they import, directly or indirectly; sorted. */
export function reachable(graph: ImportGraph, files: readonly string[]): string[] {
  const reached = new Set<string>();
  const visit = (file: string) => {
    if (reached.has(file)) return;
    reached.add(file);
    for (const imported of graph.get(file) ?? []) visit(imported);
  };
  for (const file of files) visit(file);
  return [...reached].sort();
}

/** Import cycles, each written as the path around it. */
export function circles(graph: ImportGraph): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]) => {
    const start = way.indexOf(file);
    if (start >= 0) found.push([...way.slice(start), file].join(" → "));
    if (start >= 0 || done.has(file)) return;
    for (const imported of graph.get(file) ?? []) visit(imported, [...way, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return found;
}

function edges(graph: ImportGraph): (readonly [string, string])[] {
  return [...graph].flatMap(([file, imports]) => imports.map((imported) => [file, imported] as const));
}
