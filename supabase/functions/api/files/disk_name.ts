/** Names that every common system allows on disk, for exported files: a segment of a path may not be such a name. */

/** Names of devices on Windows, with any extension, also after blanks. */
const RESERVED = /^(con(in\$|out\$)?|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\..*)?$/i;
/** Characters that Windows does not allow in names, and dots and spaces at the end of a name. */
// deno-lint-ignore no-control-regex
const UNHOLDABLE = /[<>:"|?*\\\x00-\x1f\x7f]|[. ]$/g;

/** A name for one segment of a path: itself, or with escapes such as `%3A`. */
export function diskName(segment: string): string {
  const name = segment.replaceAll(
    UNHOLDABLE,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  return RESERVED.test(name) ? `_${name}` : name;
}

/** Distinct names for the entries of an archive, in the order of the paths. Most are equal to the paths. */
export function archiveNames(paths: readonly string[]): string[] {
  const names = paths.map((path) => path.split("/").map(diskName).join("/"));
  const taken = new Set(names.filter((name, index) => name === paths[index]));
  const copies = new Map<string, number>();
  return names.map((name, index) => {
    if (name === paths[index]) return name;
    let free = name;
    for (let copy = copies.get(name) ?? 1; taken.has(free); copy++) {
      free = `${name}~${copy}`;
      copies.set(name, copy + 1);
    }
    taken.add(free);
    return free;
  });
}
