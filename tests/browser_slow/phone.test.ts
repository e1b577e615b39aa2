/** Lists on a phone: whole words, the age of each file, and one row of actions. */
import { assert, assertEquals } from "@std/assert";
import type { Locator } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { brokenWords } from "../support/browser/broken_words.ts";

const PHONE = 390;
const FOLDER = "quarterly_reports/battery-prices";
const LONG = `${FOLDER}/prices_of_cells_by_quarter_and_manufacturer-final.csv`;
const RUN = "run-3f2b0c1e-8a54-4d2e-9a35-0b2f7d5c1a77";

const { test } = await browserSuite();

test("phone: names break between words, ages and sizes stay, and actions are in one row", async (visit) => {
  const { page, part, open, account: { files } } = visit;
  await files.write(LONG, "month,price\n");
  await files.write(`${FOLDER}/gone_before_the_end_of_the_quarter.md`, "");
  await files.remove(`${FOLDER}/gone_before_the_end_of_the_quarter.md`);
  await part("a folder", async () => {
    await open(`files/${FOLDER}`);
    const row = page.getByRole("row").filter({
      has: page.getByRole("link", { name: "prices_of_cells_by_quarter" }),
    });
    await row.getByText("just now").waitFor();
    assertEquals(
      await row.locator(".when").evaluate((cell) => getComputedStyle(cell, "::after").content),
      '"12 B"',
    );
    assertEquals(await brokenWords(page), []);
    assertEquals(await rowsOf(page.locator(".tools").locator("button, .button")), 1);
  });
  await part("the size, which has no column there, sorts a folder", async () => {
    await files.write(`${FOLDER}/brief.md`, "1\n");
    const names = page.locator(".files tbody .row-link");
    for (const [order, first] of [["ascending", /^brief/], ["descending", /^prices/]] as const) {
      await page.getByRole("button", { name: "Size" }).filter({ visible: true }).click();
      await page.getByRole("button", { name: `Size , ${order}` }).waitFor();
      await names.first().filter({ hasText: first }).waitFor();
    }
  });
  await part("a file", async () => {
    await open(`file/${LONG}`);
    await page.getByLabel(`Content of ${LONG}`).waitFor();
    assertEquals(await brokenWords(page), []);
    assertEquals(await rowsOf(page.locator(".file-head .tools").locator("a, button")), 1);
    assertEquals(await rowsOf(page.locator(".reading-tools").locator("input, button:visible")), 1);
  });
  await part("deleted files", async () => {
    await open("deleted");
    const restore = page.getByRole("button", { name: /^Restore/ });
    await restore.waitFor();
    assertEquals(await brokenWords(page), []);
    assertEquals(await rowsOf(page.locator("tbody .actions button")), 1);
  });
}, { width: PHONE });

test("phone: a long id is shortened in its middle, and its link has the whole", async (visit) => {
  const { page, open, account: { files } } = visit;
  await files.post({ path: "plan.md", content: "" }, { "x-run-id": RUN });
  await open("file/plan.md?tab=history");
  const link = page.getByRole("link", { name: "run run-3f2b0c1e…0b2f7d5c1a77" });
  await link.waitFor();
  assertEquals(await link.getAttribute("title"), `Run ${RUN}`);
  assert((await link.getAttribute("href"))?.endsWith(`/run/${RUN}`));
}, { width: PHONE });

/** Returns the number of rows in which the controls are. */
async function rowsOf(controls: Locator): Promise<number> {
  const middles = await controls.evaluateAll((all) =>
    all.map((one) => one.getBoundingClientRect()).filter(({ height }) => height > 1)
      .map(({ top, height }) => top + height / 2)
  );
  assert(middles.length > 1, "there are several controls");
  const sorted = middles.toSorted((a, b) => a - b);
  return 1 + sorted.filter((middle, index) => middle - (sorted[index - 1] ?? middle) > 8).length;
}
