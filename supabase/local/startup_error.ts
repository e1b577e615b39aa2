/** Thrown when the stack or a command cannot continue. Its message is one line for the user at the terminal. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** Returns the machine-readable code (`EADDRINUSE`, `28P01` …) of a thrown value, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
