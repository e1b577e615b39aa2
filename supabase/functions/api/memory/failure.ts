/** A failure that the model is to read: its message is the answer. */
export class MemoryFailure extends Error {
  override readonly name = "MemoryFailure";
}

export function failMemory(message: string): never {
  throw new MemoryFailure(message);
}
