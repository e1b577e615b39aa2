/** Calls `make` on first use and keeps its value, so that a cold start does not pay for values that it does not use. */
export function lazy<Value extends object>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => value ??= make();
}
