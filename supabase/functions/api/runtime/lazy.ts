/** Calls `make` on first use and keeps its value, so that a cold start does not pay for what its request does not need. */
export function lazy<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => made ??= make();
}
