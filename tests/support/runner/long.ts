/**
 * Tests that can go on for as long as one likes have three forms. The short one is the usual; TEST_LONG=1 asks for the long
 * one, and TEST_BRIEF=1 for one that takes seconds, which the first tier has.
 */
export const IS_LONG = Deno.env.get("TEST_LONG") === "1";
export const IS_BRIEF = !IS_LONG && Deno.env.get("TEST_BRIEF") === "1";

/** The number of the form that runs. */
export function rounds(short: number, long: number): number {
  return IS_LONG ? long : short;
}

/** Says what a test did, in one line that survives the test runner's formatting. */
export function report(title: string, figures: Readonly<Record<string, unknown>>): void {
  const parts = Object.entries(figures).map(([name, value]) =>
    `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`
  );
  // deno-lint-ignore no-console
  console.log(`${title}: ${parts.join(", ")}`);
}

/** One line of figures, for whoever reads the test's output. */
export function figures(line: string): void {
  // deno-lint-ignore no-console -- the figures are what the long form is read for
  console.log(`    ${line}`);
}
