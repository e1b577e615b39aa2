/** Accessibility findings of axe for a page, including its shadow trees. */
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const GRAVE = ["serious", "critical"];

/** Returns the serious and critical findings, of all rules or of these: the rule, its meaning, and the element. */
export async function graveFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated by the debugger, to which the page's policy does not apply.
  await page.evaluate(`"axe" in globalThis || (() => { ${axe.source} })()`);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, { resultTypes: ["violations"], preload: false, runOnly: ${
      JSON.stringify(rules) ?? "undefined"
    } })`,
  );
  return violations.filter(({ impact }) => GRAVE.includes(impact ?? "")).flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} (${help}) at ${target.join(" ")}: ${failureSummary}`)
  );
}
