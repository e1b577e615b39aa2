/** Reading CSV, TSV, JSONL and JSON: tables and trees of any length, of which only the rows in view are drawn. */
import { assert, assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { dialog, press, says, shownText } from "../support/browser/page_actions.ts";

const ROWS = 100_000;
/** More rows than are in view, and far fewer than all. */
const ROWS_DRAWN_MAX = 100;

const { test } = await browserSuite();

test("table: 100,000 rows of CSV scroll to their end, and only those in view are drawn", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const rows = Array.from({ length: ROWS }, (_, index) => `${index + 1},"name, of ${index + 1}",=1+${index}`);
  await files.write("rows.csv", `id,name,formula\n${rows.join("\n")}\n`);
  const scroller = page.getByRole("region", { name: "Content of rows.csv" });
  const last = page.getByRole("row", { name: `Show row ${ROWS}` });
  await step("it tells all of its rows, and draws few", async () => {
    await open("file/rows.csv");
    await says(page, "100,000 rows");
    assertEquals(await page.getByRole("table").getAttribute("aria-rowcount"), String(ROWS + 1));
    assertEquals(await page.getByRole("columnheader").allTextContents(), ["Row", "id", "name", "formula"]);
    assert(await page.getByRole("row").count() < ROWS_DRAWN_MAX);
  });
  await step("keys scroll it to the end and back; the head stays", async () => {
    await scroller.focus();
    await page.keyboard.press("End");
    await last.waitFor();
    assertEquals(await last.getByRole("cell").allTextContents(), [
      "100000",
      "name, of 100000",
      "=1+99999",
    ]);
    assert(await page.getByRole("columnheader", { name: "formula" }).isVisible());
    assert(await page.getByRole("row").count() < ROWS_DRAWN_MAX);
    await page.keyboard.press("Home");
    await page.getByRole("button", { name: "Show row 1", exact: true }).waitFor();
  });
  await step("a row is gone to by its number, and shown in full", async () => {
    await page.keyboard.press("Control+g");
    await page.keyboard.type("54321");
    await page.keyboard.press("Enter");
    await press(page, "Show row 54321");
    const row = dialog(page, "Row 54,321");
    await row.locator("dd").first().waitFor();
    assertEquals(await row.locator("dd").allTextContents(), ["54321", "name, of 54321", "=1+54320"]);
    await press(row, "Close");
  });
  await step("a line is one of the source, which is read in parts here", async () => {
    await page.goto(`${page.url()}?line=50001`);
    await page.locator(".cm-shownLine").getByText("50000,").waitFor();
    await press(page, "Table");
    await says(page, "100,000 rows");
  });
});

test("table: the forms of CSV, TSV and JSONL, and what is wrong with them", async (visit) => {
  const { page, part, open, account: { files } } = visit;
  const shown = async (path: string, content: string) => {
    await files.write(path, content);
    await open(`file/${path}`);
    await page.getByRole("table", { name: `Rows of ${path}` }).waitFor();
    await page.getByText(/^(one|[\d,]+) rows?$/).waitFor();
    return await page.getByRole("row").evaluateAll((all) =>
      all.map((row) => [...row.children].slice(1).map(({ textContent }) => textContent))
    );
  };
  await part("rows that are shorter and longer than the head", async () => {
    assertEquals(await shown("b.csv", "a,b\n1\n1,2,3\n1,2\n"), [
      ["a", "b", ""],
      ["1", "", ""],
      ["1", "2", "3"],
      ["1", "2", ""],
    ]);
    await says(page, "2 rows have another number of cells");
  });
  await part("more columns than a table has", async () => {
    const names = Array.from({ length: 150 }, (_, index) => `c${index}`);
    const [head] = await shown("e.csv", `${names.join(",")}\n${names.join(",")}\n`);
    assertEquals(head?.length, 100);
    await says(page, "the first 100 are shown");
  });
});

test("tree: JSON folds, is walked with the keyboard, and shows what is written", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const value =
    `{"runs": [{"id": 12345678901234567890, "2": "b", "1": "a"}], "text": "one\\ntwo", "none": {}, "n": -1.50}`;
  await files.write("a.json", value);
  const tree = page.getByRole("tree", { name: "Content of a.json" });
  const rows = () => tree.getByRole("treeitem").allTextContents();
  await step("it is unfolded while it is short, in the order and with the digits of the file", async () => {
    await open("file/a.json");
    await tree.waitFor();
    assertEquals(await rows(), [
      "{ 4 keys }",
      "runs:[ 1 item ]",
      "0:{ 3 keys }",
      "id:12345678901234567890",
      `2:"b"`,
      `1:"a"`,
      `text:"one\\ntwo"`,
      "none:{}",
      "n:-1.50",
    ]);
  });
  await step("arrow keys walk, fold and unfold it", async () => {
    await tree.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowLeft");
    assertEquals((await rows()).slice(0, 3), ["{ 4 keys }", "runs:[ 1 item ]", `text:"one\\ntwo"`]);
    assertEquals(await tree.getByRole("treeitem", { name: /runs/ }).getAttribute("aria-expanded"), "false");
    await page.keyboard.press("ArrowRight");
    assertEquals((await rows()).length, 9);
  });
  await step("a value is shown in full, with its path", async () => {
    for (let presses = 0; presses < 2; presses++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const id = dialog(page, "$.runs[0].id");
    assertEquals(await id.locator("pre").textContent(), "12345678901234567890");
    await page.keyboard.press("Escape");
    await tree.getByText(`"one`).click();
    assertEquals(await dialog(page, "$.text").locator("pre").textContent(), "one\ntwo");
    await page.keyboard.press("Escape");
  });
  await step("its source, and what is not JSON", async () => {
    assertEquals(await shownText(page, "Content of a.json"), value);
    await files.write("broken.json", `{"a": 1,}`);
    await open("file/broken.json");
    await says(page, "This is not valid JSON:");
    await page.locator(".cm-content").getByText(`{"a": 1,}`).waitFor();
  });
});

test("tree: ten megabytes unfold to all of their rows, of which few are drawn", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const items = Array.from(
    { length: ROWS },
    (_, index) => ({ id: index, name: `item ${index}`, text: "x".repeat(60) }),
  );
  const text = JSON.stringify({ items });
  assert(text.length > 9_000_000 && text.length < 10 * 1024 * 1024, `${text.length} characters`);
  await files.write("large.json", text);
  const tree = page.getByRole("tree", { name: "Content of large.json" });
  const count = () => tree.getByRole("treeitem").count();
  await step("it opens folded", async () => {
    await open("file/large.json");
    await tree.getByText("[ 100,000 items ]").waitFor();
    assertEquals(await count(), 2);
  });
  await step("unfolded, its last row is where End leads", async () => {
    await tree.getByText("[ 100,000 items ]").click();
    await tree.focus();
    await page.keyboard.press("End");
    await tree.getByText("99999:").waitFor();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("End");
    await tree.getByText(`"${"x".repeat(60)}"`).last().waitFor();
    assert(await count() < ROWS_DRAWN_MAX);
  });
  await step("all of it", async () => {
    await press(page, "Unfold all");
    await page.keyboard.press("Tab");
    await tree.focus();
    await page.keyboard.press("End");
    await says(page, `"item 99999"`);
    assert(await count() < ROWS_DRAWN_MAX);
    await press(page, "Fold all");
    await tree.getByText("{ 1 key }").waitFor();
    assertEquals(await count(), 1);
  });
});
