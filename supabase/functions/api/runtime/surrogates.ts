/** Whether the code unit at `place` is the second half of a surrogate pair, before which no text may be cut. */
export function isSecondHalf(text: string, place: number): boolean {
  return (text.charCodeAt(place) & 0xfc00) === 0xdc00;
}
