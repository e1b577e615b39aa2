/** Orders paths by their bytes in UTF-8, as the database does. */
export function comparePaths(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (one !== other) return place(one) - place(other);
  }
  return a.length - b.length;
}

/** Halves of surrogate pairs, which stand for the largest code points, come after all other code units. */
function place(codeUnit: number): number {
  const isSurrogate = codeUnit >= 0xd800 && codeUnit <= 0xdfff;
  return isSurrogate ? codeUnit + 0x1_0000 : codeUnit;
}
