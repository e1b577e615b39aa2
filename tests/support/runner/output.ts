/**
 * Reads the end of the output of `deno test`, such as `ok | 12 passed (3 steps) | 0 failed (1s)`, and the failures
 * before it.
 */

/**
 * The numbers of tests that passed and failed. A process that exits with an error but no failed test counts as one
 * failure.
 */
export function countsOf(output: string, code: number): { passed: number; failed: number } {
  const [, passed = 0, failed = 0] = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed/m.exec(output) ?? [];
  return { passed: Number(passed), failed: Math.max(Number(failed), code === 0 ? 0 : 1) };
}

/** Lines shown of each failure. The first ones say what was expected; a whole page or answer may follow. */
const FAILURE_LINES_MAX = 25;

/** The part under the heading ERRORS, and the names under FAILURES. */
export function errorsOf(output: string): string {
  const errors = /^ ERRORS $[\s\S]*?(?=^FAILED \|)/m.exec(output)?.[0].trim() ?? "";
  return errors.split(/\n\n(?=.* => | FAILURES $)/m)
    .map((failure) => failure.split("\n").slice(0, FAILURE_LINES_MAX).join("\n"))
    .join("\n\n");
}
