/** A reason why the stack or a command cannot go on. Its message is one clear line for the person at the terminal. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** The machine-readable code (`EADDRINUSE`, `28P01` …) of whatever was thrown, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
