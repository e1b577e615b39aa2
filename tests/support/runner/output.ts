/** What `deno test` says at its end: `ok | 12 passed (3 steps) | 0 failed (1s)`, and before it what failed. */

/** How many tests passed and failed. A process that ended badly without a failed test counts as one. */
export function countsOf(output: string, code: number): { passed: number; failed: number } {
  const [, passed = 0, failed = 0] = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed/m.exec(output) ?? [];
  return { passed: Number(passed), failed: Math.max(Number(failed), code === 0 ? 0 : 1) };
}

/** The part under the heading ERRORS, with the names under FAILURES. */
export function errorsOf(output: string): string {
  return /^ ERRORS $[\s\S]*?(?=^FAILED \|)/m.exec(output)?.[0].trim() ?? "";
}
