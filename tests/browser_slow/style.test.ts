/** Controls and blocks of the main views stand in lines: what is beside each other has one height, what is below each other one edge. */
import { assertEquals } from "@std/assert";
import { fillWeek, FOLDER_SHOWN, REPORT, RUN } from "../browser/week.ts";
import { browserSuite } from "../support/browser/browser.ts";

const { test } = await browserSuite();

const PLACES: Readonly<Record<string, string>> = {
  "a folder": `files/${FOLDER_SHOWN}`,
  "a file": `file/${REPORT}`,
  "the editor": `file/${REPORT}?tab=edit`,
  "a history": `file/${REPORT}?tab=history`,
  "a comparison": `file/${REPORT}?tab=compare`,
  "deleted files": "deleted",
  "a search": "search?q=September",
  "the activity": "activity",
  "the runs": "runs",
  "a run": `run/${RUN}`,
  "the branches": "branches",
  "the links": "links",
  "connect": "connect",
  "the keys": "keys",
  "the settings": "settings",
};

/**
 * What stands out of line: controls of one row with other heights or middles, and blocks whose left edges differ by less than 8
 * pixels. The text of code and of rendered documents is left out.
 */
const FAULTS = `(() => {
  const faults = [];
  const seen = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  const named = (element) =>
    element.tagName.toLowerCase() + (element.className ? "." + String(element.className).replaceAll(" ", ".") : "") + " “" +
    (element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 24) + "”";
  const inside = (element) => element.closest(".markdown, .cm-editor, pre, table, .visually-hidden") === null;
  const main = document.querySelector("main");
  const controls = [...main.querySelectorAll("button, a.button, input:not([type=checkbox], [type=radio], [type=file]), select")]
    .filter((one) => seen(one) && inside(one));
  const isInText = (one) => one.closest("p, li, summary, .crumbs") !== null;
  for (const one of controls.filter((control) => !isInText(control))) {
    for (const other of controls.filter((control) => !isInText(control))) {
      if (one === other || one.contains(other) || other.contains(one)) continue;
      if (one.parentElement !== other.parentElement && one.parentElement.parentElement !== other.parentElement.parentElement) {
        continue;
      }
      const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
      if (a.left >= b.left || b.top >= a.bottom || a.top >= b.bottom) continue;
      if (Math.abs(a.height - b.height) > 0.5) faults.push("height " + named(one) + " " + a.height + ", " + named(other) + " " + b.height);
      else if (Math.abs(a.top - b.top) > 0.5) faults.push("top " + named(one) + " " + a.top + ", " + named(other) + " " + b.top);
    }
  }
  const blocks = [...main.querySelectorAll("h1, h2, h3, p, section, form, table, fieldset, .card, .toolbar, .tabs, label")]
    .filter((one) => seen(one) && inside(one));
  for (const one of blocks) {
    const next = one.nextElementSibling;
    if (next === null || !seen(next)) continue;
    const [a, b] = [one.getBoundingClientRect(), next.getBoundingClientRect()];
    if (b.top < a.bottom - 0.5) continue;
    const off = Math.abs(a.left - b.left);
    if (off > 0.5 && off < 8) faults.push("edge " + named(one) + " " + a.left + ", " + named(next) + " " + b.left);
  }
  return [...new Set(faults)];
})()`;

for (const width of [1280, 390]) {
  test(
    `style: what is beside each other has one height, what is below each other one edge, at ${width} px`,
    async (visit) => {
      const { page, service, account, open, part } = visit;
      await fillWeek(service, account);
      for (const [name, place] of Object.entries(PLACES)) {
        await part(name, async () => {
          await open(place);
          await page.getByRole("heading", { level: 1 }).waitFor();
          await page.locator(".loading").first().waitFor({ state: "detached" });
          assertEquals(await page.evaluate(FAULTS), []);
        });
      }
    },
    { width },
  );
}
