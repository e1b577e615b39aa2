/** Finding names by their beginning in a folder that is larger than a page, with one request. */
import { joinPath } from "../../format.ts";

const LAST_CHARACTER = "\u{10FFFF}";

/**
 * A path that sorts before every path that begins with `directory/prefix` and after all others that come before it,
 * for the API's `after`. Undefined where the list may as well start at its beginning.
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

/** The nearest lower character that a path may have there. */
function previousCharacter(character: number): number | null {
  for (let one = character - 1; one >= 0x20; one--) {
    if (one === 0x2f || one === 0x5c) continue;
    if (one >= 0x7f && one < 0xa0) continue;
    if (one >= 0xd800 && one < 0xe000) one = 0xd7ff;
    return one;
  }
  return null;
}
