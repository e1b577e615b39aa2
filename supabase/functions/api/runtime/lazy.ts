/** What `make` makes, made when it is first asked for: an isolate should not wait for what its request does not need. */
export function lazily<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => made ??= make();
}
