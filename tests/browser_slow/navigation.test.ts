/** Opening a file and going back: the list, the focus and the scroll position are restored. */
import { assert, assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { populate } from "../bench/populate.ts";
import { browserSuite } from "../support/browser/browser.ts";
import { follow, press, says, shownText, toggleHistory } from "../support/browser/page_actions.ts";

const FILES = 230;
const FILES_PER_PAGE = 100;
const FOLDER = "top-0/sub-00000";

const { test } = await browserSuite();

test("navigation: page, sort and filter survive opening a file and going back", async (visit) => {
  const { page, step, open, service, account: { projectId } } = visit;
  await populate(service.stack, [{ id: projectId }], { files: FILES, filesPerDirectory: FILES });
  const table = page.getByRole("table", { name: `Files in ${FOLDER}` });
  const first = table.getByRole("row").nth(1).getByRole("link");
  const goAndComeBack = async (link: Locator) => {
    const address = page.url();
    await link.click();
    await page.getByRole("link", { name: /History$/ }).waitFor();
    await page.goBack();
    await becomesFocused(page, link);
    assertEquals(page.url(), address);
  };
  await step("the page in view, wherever one has scrolled to", async () => {
    await open(`files/${FOLDER}`);
    await table.getByRole("link", { name: "file-0000099.txt" }).scrollIntoViewIfNeeded();
    await says(page, "1–200 of 230");
    const link = table.getByRole("link", { name: "file-0000150.txt" });
    await link.scrollIntoViewIfNeeded();
    await page.waitForURL(/first=100/);
    await goAndComeBack(link);
    assertEquals(await table.getByRole("link", { name: "file-0000000.txt" }).count(), 0);
    assertEquals(await first.innerText(), "file-0000100.txt");
  });
  await step("what is before it, and what is after it", async () => {
    await press(page, "Earlier files");
    await table.getByRole("link", { name: "file-0000000.txt" }).waitFor();
    await table.getByRole("link", { name: "file-0000199.txt" }).scrollIntoViewIfNeeded();
    await says(page, "1–230 of 230");
    assertEquals(await table.getByRole("row").count(), FILES + 1);
    assertEquals(await page.getByRole("button", { name: /^(More|Earlier) files$/ }).count(), 0);
  });
  await step("its address can be kept, and scrolling is no step back", async () => {
    await page.waitForURL(/first=100/);
    await page.reload();
    await says(page, /^101–(200|230) of 230$/);
    await follow(page.getByRole("region", { name: "Folder" }), "top-0");
    await page.goBack();
    await says(page, /^101–(200|230) of 230$/);
  });
  await step("a file of the next page, below the last ones of the page before", async () => {
    await open(`files/${FOLDER}`);
    const before = table.getByRole("link", { name: "file-0000099.txt" });
    await before.scrollIntoViewIfNeeded();
    await says(page, "1–200 of 230");
    await before.evaluate((link) => link.scrollIntoView({ block: "start" }));
    const top = await page.evaluate(() => scrollY);
    await goAndComeBack(table.getByRole("link", { name: "file-0000105.txt" }));
    assertEquals(await page.evaluate(() => scrollY), top);
  });
  await step("the order, further down", async () => {
    await open(`files/${FOLDER}`);
    const size = table.getByRole("columnheader", { name: "Size" });
    await size.getByRole("button").click();
    await size.and(page.locator("[aria-sort=ascending]")).waitFor();
    await size.getByRole("button").click();
    await size.and(page.locator("[aria-sort=descending]")).waitFor();
    await table.getByRole("row").nth(FILES_PER_PAGE).scrollIntoViewIfNeeded();
    await says(page, "1–200 of 230");
    const link = table.getByRole("row").nth(FILES_PER_PAGE + 1).getByRole("link");
    const name = await link.innerText();
    await link.evaluate((link) => link.scrollIntoView({ block: "start" }));
    await page.waitForURL(/first=100/);
    await goAndComeBack(table.getByRole("link", { name }));
    await size.and(page.locator("[aria-sort=descending]")).waitFor();
    assertEquals(await first.innerText(), name);
  });
  await step("the filter, in the order that was chosen", async () => {
    await page.getByLabel("Filter by name").fill("99.txt");
    await says(page, "2 files of 230 have “99.txt” in the name.");
    const before = await table.getByRole("link").allInnerTexts();
    assertEquals(before.length, 2);
    await goAndComeBack(first);
    assertEquals(await page.getByLabel("Filter by name").inputValue(), "99.txt");
    await says(page, "2 files of 230 have “99.txt” in the name.");
    assertEquals(await table.getByRole("link").allInnerTexts(), before);
  });
  await step("the folder's own link begins anew", async () => {
    await follow(page.getByRole("navigation", { name: "Breadcrumbs" }), "top-0");
    await page.getByRole("table").getByRole("link", { name: "sub-00000" }).click();
    await says(page, "1–100 of 230");
    assertEquals(await page.getByLabel("Filter by name").inputValue(), "");
  });
});

test("navigation: a new view has the focus and begins at its top; Back has both as they were", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.commit(
    Array.from({ length: 50 }, (_, index) => ({
      op: "write",
      path: `notes/${index + 10}.md`,
      content: `${index + 10}\n`,
    })),
  );
  const link = page.getByRole("link", { name: "55.md" });
  await step("from a list, by keyboard", async () => {
    await open("files/notes");
    await link.focus();
    const scrolled = await page.evaluate(() => scrollY);
    assert(scrolled > 0, "the list is longer than the window");
    await page.keyboard.press("Enter");
    await page.getByLabel("Content of notes/55.md").waitFor();
    await becomesFocused(page, page.getByRole("main"));
    assertEquals(await page.evaluate(() => scrollY), 0);
    await page.goBack();
    await becomesFocused(page, link);
    assertEquals(await page.evaluate(() => scrollY), scrolled);
    await page.keyboard.press("ArrowDown");
    await becomesFocused(page, page.getByRole("link", { name: "56.md" }));
  });
  await step("over two steps, through another tab of the file", async () => {
    await link.click();
    await toggleHistory(page);
    await page.getByRole("list", { name: "Versions of notes/55.md" }).waitFor();
    await becomesFocused(page, page.getByRole("link", { name: "Hide history" }));
    await page.goBack();
    assertEquals(await shownText(page, "Content of notes/55.md"), "55\n");
    await page.goBack();
    await becomesFocused(page, link);
  });
  await step("the focus of a user who continues by keyboard in the meantime stays in place", async () => {
    await open("files/notes");
    await link.focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Content of notes/55.md").waitFor();
    const released = Promise.withResolvers<void>();
    const isList = (url: URL) => url.searchParams.get("directory") === "notes";
    await page.route(isList, async (route) => {
      await released.promise;
      await route.continue();
    });
    await page.goBack();
    await says(page, "Loading files …");
    await page.keyboard.press("/");
    released.resolve();
    await link.waitFor();
    await becomesFocused(page, page.getByLabel("Filter by name"));
  });
});

test("navigation: pages of deleted files and of a history are in the address", async (visit) => {
  const { page, step, open, service, account: { files, projectId } } = visit;
  await populate(service.stack, [{ id: projectId }], { files: FILES, filesPerDirectory: FILES });
  await step("a history", async () => {
    await files.write("log.txt", "0\n");
    await files.commit(
      Array.from(
        { length: 59 },
        (_, index) => ({ op: "append", path: "log.txt", content: `${index + 2}\n` }),
      ),
    );
    await open("file/log.txt?tab=history");
    await press(page, "Next");
    await says(page, "51–60 of 60");
    await follow(page, "Version 3");
    assertEquals(await shownText(page, "Content of log.txt"), "0\n2\n3\n");
    await page.goBack();
    await says(page, "51–60 of 60");
    await becomesFocused(page, page.getByRole("link", { name: "Version 3" }));
  });
});

async function becomesFocused(page: Page, control: Locator): Promise<void> {
  await control.and(page.locator(":focus")).waitFor();
}
