/** What a command prints: results on standard output, everything else on standard error. */
import { stderr, stdout } from "node:process";
import { escapeHidden } from "../../functions/api/runtime/hidden_characters.ts";

/** A terminal would obey control characters instead of showing them. */
export function shown(text: string): string {
  return text.split("\n").map(escapeHidden).join("\n");
}

/** Prints one line of the command's result. */
export async function printLine(line: string): Promise<void> {
  await printBytes(new TextEncoder().encode(`${shown(line)}\n`));
}

/** Prints a result as one line of JSON. */
export async function printJson(value: unknown): Promise<void> {
  await printBytes(new TextEncoder().encode(`${escapeHidden(JSON.stringify(value))}\n`));
}

/** Resolves when the bytes are written, so that a slow reader slows the command, too. */
export function printBytes(bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => stdout.write(bytes, (error) => error ? reject(error) : resolve()));
}

/** Prints one line on standard error: hints and refusals. */
export function printNotice(line: string): void {
  stderr.write(`${shown(line)}\n`);
}
