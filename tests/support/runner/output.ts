/** What `deno test` says at its end: `ok | 12 passed (3 steps) | 0 failed (1s)`, and before it what failed. */

/** How many tests passed and failed. A process that ended badly without a failed test counts as one. */
export function countsOf(output: string, code: number): { passed: number; failed: number } {
  const [, passed = 0, failed = 0] = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed/m.exec(output) ?? [];
  return { passed: Number(passed), failed: Math.max(Number(failed), code === 0 ? 0 : 1) };
}

/** Of each failure the first lines, which say what was expected; a page or an answer may follow. */
const FAILURE_LINES_MAX = 25;

/** The part under the heading ERRORS, with the names under FAILURES. */
export function errorsOf(output: string): string {
  const errors = /^ ERRORS $[\s\S]*?(?=^FAILED \|)/m.exec(output)?.[0].trim() ?? "";
  return errors.split(/\n\n(?=.* => | FAILURES $)/m)
    .map((failure) => failure.split("\n").slice(0, FAILURE_LINES_MAX).join("\n"))
    .join("\n\n");
}
