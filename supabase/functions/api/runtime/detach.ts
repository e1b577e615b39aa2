/**
 * Gives the memory of bytes that nobody needs any more back at once; they are empty afterwards, and so is whatever
 * else looks at the same buffer. The collector would do it later: it hardly sees how much memory a buffer holds.
 */
export function giveBack(bytes: Uint8Array): void {
  if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
}

/** The chunks in order, each given back when the next one is asked for. */
export function* spend(chunks: readonly Uint8Array[]): Generator<Uint8Array, void, void> {
  for (const chunk of chunks) {
    yield chunk;
    giveBack(chunk);
  }
}
