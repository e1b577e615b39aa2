/** Reading a rope in order, a few segments ahead of the reader. */
import { READ_AHEAD_SEGMENTS } from "../limits.ts";
import type { Segment, Segments } from "../ports.ts";

/**
 * The bytes of each segment, verified. Holds at most READ_AHEAD_SEGMENTS + 1 segments. Throws where one of them is
 * corrupt or out of reach.
 */
export async function* readSegments(
  segments: Segments,
  rope: readonly Segment[],
): AsyncGenerator<Uint8Array, void, void> {
  const ahead: Promise<Uint8Array>[] = [];
  const fetchNext = (index: number) => {
    const segment = rope[index];
    if (!segment) return;
    const bytes = segments.get(segment);
    // Seen when its turn comes; a reader that stops before that must not leave it unhandled.
    bytes.catch(() => {});
    ahead.push(bytes);
  };
  for (let index = 0; index < READ_AHEAD_SEGMENTS; index++) fetchNext(index);
  for (let index = 0; index < rope.length; index++) {
    fetchNext(index + READ_AHEAD_SEGMENTS);
    const bytes = await ahead.shift();
    if (bytes) yield bytes;
  }
}
