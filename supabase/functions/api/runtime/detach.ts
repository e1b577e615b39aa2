/**
 * Frees the memory of unneeded bytes at once. Afterwards they are empty, and so is every other view of the same buffer.
 * The garbage collector would free them later, since it underestimates how much memory a buffer holds.
 */
export function detach(bytes: Uint8Array): void {
  if (bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
}

/** Yields the chunks in order and detaches each one when the next is requested: they can be read only once. */
export function* drainAndDetach(chunks: readonly Uint8Array[]): Generator<Uint8Array, void, void> {
  for (const chunk of chunks) {
    yield chunk;
    detach(chunk);
  }
}
