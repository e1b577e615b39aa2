/** The console by keyboard alone: every control can be reached, and the focus is always visible. */
import { assert, assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { becomesFocused, dialog, says, shownText } from "../support/browser/page_actions.ts";

/** Upper bound of the Tab presses to any control of a page. */
const STOPS_MAX = 60;

const { test } = await browserSuite();

test("keyboard: signing in, finding a file, opening, editing and saving it", async (visit) => {
  const { page, step, open, account } = visit;
  const folder = page.getByRole("table").getByRole("link", { name: "notes" });
  await account.files.write("notes/plan.md", "the plan\n");
  await account.files.write("notes/other.md", "");
  await step("the form takes address and password, and Enter sends it", async () => {
    await open("files");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await tabTo(page, page.getByLabel("E-mail"));
    await page.keyboard.type(account.email);
    await page.keyboard.press("Tab");
    await page.keyboard.type(account.password);
    await page.keyboard.press("Enter");
    await folder.waitFor();
  });
  await step("the skip link leads past the sidebar", async () => {
    await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
    await page.keyboard.press("Tab");
    assert(await isFocused(page.getByRole("link", { name: "Skip to the content" })));
    await page.keyboard.press("Enter");
    assert(await isFocused(page.getByRole("main")));
  });
  await step("Tab reaches the folder, arrows its files, Enter opens", async () => {
    await tabTo(page, folder);
    await page.keyboard.press("Enter");
    const other = page.getByRole("link", { name: "other.md" });
    await other.waitFor();
    await tabTo(page, other);
    await page.keyboard.press("ArrowDown");
    assert(await isFocused(page.getByRole("link", { name: "plan.md" })));
    await page.keyboard.press("Enter");
    assertEquals(await shownText(page, "Content of notes/plan.md"), "the plan\n");
  });
  await step("the editor is entered and saved without a mouse", async () => {
    await tabTo(page, page.getByRole("link", { name: "Edit", exact: true }));
    await page.keyboard.press("Enter");
    const editor = page.getByRole("textbox", { name: "Edit notes/plan.md" });
    await editor.and(page.locator(":focus")).waitFor();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.type("by keys");
    await page.keyboard.press("ControlOrMeta+s");
    await says(page, "Saved as version 2.");
    assertEquals((await account.files.read("notes/plan.md")).content, "the plan\nby keys");
  });
}, { isSignedOut: true });

test("keyboard: the slash goes to the filter, Enter opens what it finds", async ({ page, open, account }) => {
  for (const name of ["a.md", "b.md", "c.md"]) await account.files.write(name, `${name}\n`);
  await open("files");
  await page.getByRole("link", { name: "c.md" }).waitFor();
  await page.keyboard.press("/");
  assert(await isFocused(page.getByLabel("Filter by name")));
  await page.keyboard.type("b.");
  await page.getByRole("link", { name: "a.md" }).waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  assertEquals(await shownText(page, "Content of b.md"), "b.md\n");
});

test("keyboard: a dialog takes the focus, keeps it, and gives it back on Escape", async ({ page, open }) => {
  await open("keys");
  const button = page.getByRole("button", { name: "New key" });
  await button.waitFor();
  await tabTo(page, button);
  await page.keyboard.press("Enter");
  const form = dialog(page, "New API key");
  await form.waitFor();
  await becomesFocused(page, form.getByLabel("Name"));
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "detached" });
  await becomesFocused(page, button);
});

test("keyboard: the menu of a phone takes the focus, and gives it back on Escape", async (visit) => {
  const { page, step, open, account } = visit;
  const menu = page.getByRole("button", { name: "Menu", exact: true });
  const close = page.getByRole("button", { name: "Close menu" });
  await account.files.write("notes/a.md", "");
  await step("Escape closes it", async () => {
    await open("files");
    await page.getByRole("table").getByRole("link", { name: "notes" }).waitFor();
    await menu.focus();
    await page.keyboard.press("Enter");
    await becomesFocused(page, close);
    await page.keyboard.press("Escape");
    await close.waitFor({ state: "hidden" });
    await becomesFocused(page, menu);
  });
  await step("Escape closes a dialog of it first", async () => {
    await menu.click();
    await page.getByRole("button", { name: "New project" }).click();
    await dialog(page, "New project").waitFor();
    await page.keyboard.press("Escape");
    await dialog(page, "New project").waitFor({ state: "detached" });
    assert(await close.isVisible(), "the menu is still open");
    await page.keyboard.press("Escape");
    await close.waitFor({ state: "hidden" });
  });
  await step("a choice closes it and leads into the view, also where one is already", async () => {
    for (const section of ["API keys", "API keys"]) {
      await menu.click();
      await becomesFocused(page, close);
      await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: section }).focus();
      await page.keyboard.press("Enter");
      await close.waitFor({ state: "hidden" });
      await becomesFocused(page, page.getByRole("main"));
      await page.getByRole("heading", { name: section }).waitFor();
    }
  });
}, { width: 390 });

/** Presses Tab until the control has the focus, and asserts that the focus is visible. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  for (let stops = 0; stops < STOPS_MAX && !await isFocused(control); stops++) {
    await page.keyboard.press("Tab");
  }
  assert(await isFocused(control), `${control} is reached by Tab`);
  const outline = await control.evaluate((element) => getComputedStyle(element).outlineStyle);
  assert(outline !== "none", `${control} shows that it has the focus`);
}

async function isFocused(control: Locator): Promise<boolean> {
  return await control.evaluate((element) => element === document.activeElement);
}
