/**
 * Tests that could run for any length of time have three forms. The short form is the default, TEST_LONG=1 selects the
 * long one, and TEST_BRIEF=1 one of a few seconds, for the first tier.
 */
export const IS_LONG = Deno.env.get("TEST_LONG") === "1";
export const IS_BRIEF = !IS_LONG && Deno.env.get("TEST_BRIEF") === "1";

/** The number of rounds in the selected form. */
export function rounds(short: number, long: number): number {
  return IS_LONG ? long : short;
}

/** Prints what a test did, in one line that survives the test runner's formatting. */
export function report(title: string, figures: Readonly<Record<string, unknown>>): void {
  const parts = Object.entries(figures).map(([name, value]) =>
    `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`
  );
  // deno-lint-ignore no-console
  console.log(`${title}: ${parts.join(", ")}`);
}

/** Prints one line of figures, to be read in the test's output. */
export function figures(line: string): void {
  // deno-lint-ignore no-console -- the figures are what the long form is read for
  console.log(`    ${line}`);
}
