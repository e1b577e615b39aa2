/** A cursor for finding names by prefix, with one request, in a folder that is larger than a page. */
import { joinPath } from "../format.ts";

const LAST_CHARACTER = "\u{10FFFF}";

/**
 * Returns a value for the `after` parameter: a path that sorts before every path that begins with `directory/prefix`, and
 * after all paths that sort before those. Undefined if the list can start at its beginning.
 */
export function cursorBefore(directory: string, prefix: string): string | undefined {
  const characters = [...prefix];
  const last = characters.pop()?.codePointAt(0);
  if (last === undefined) return undefined;
  const start = characters.join("");
  const previous = previousCharacter(last);
  if (previous === null) return start === "" ? undefined : joinPath(directory, start);
  return joinPath(directory, `${start}${String.fromCodePoint(previous)}${LAST_CHARACTER}`);
}

/** Returns the nearest lower character that is valid in a path, or null. */
function previousCharacter(character: number): number | null {
  for (let one = character - 1; one >= 0x20; one--) {
    if (one === 0x2f || one === 0x5c) continue;
    if (one >= 0x7f && one < 0xa0) continue;
    if (one >= 0xd800 && one < 0xe000) one = 0xd7ff;
    return one;
  }
  return null;
}
