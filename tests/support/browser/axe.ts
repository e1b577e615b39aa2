/** What axe finds wrong with a page, in every shadow tree, too. */
import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const GRAVE = ["serious", "critical"];

/** The serious and critical findings: rule, what it is about, and where. */
export async function graveFindings(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the page's policy does not bind.
  await page.evaluate(`"axe" in globalThis || (() => { ${axe.source} })()`);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, { resultTypes: ["violations"], preload: false })`,
  );
  return violations.filter(({ impact }) => GRAVE.includes(impact ?? "")).flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} (${help}) at ${target.join(" ")}: ${failureSummary}`)
  );
}
