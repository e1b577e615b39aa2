/** A failure whose message is the answer to the model. */
export class MemoryFailure extends Error {
  override readonly name = "MemoryFailure";
}

export function failMemory(message: string): never {
  throw new MemoryFailure(message);
}
