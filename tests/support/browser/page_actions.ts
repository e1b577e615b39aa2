/** Actions of a person in the console, one function each. */
import type { Locator, Page } from "playwright-core";

/** Returns the dialog with this title. */
export function dialog(page: Page, title: string | RegExp): Locator {
  return page.getByRole("dialog", { name: title });
}

/** Presses the button with exactly this name. */
export async function press(within: Page | Locator, name: string | RegExp): Promise<void> {
  await within.getByRole("button", { name, exact: true }).click();
}

/** Follows the link with exactly this name. */
export async function follow(within: Page | Locator, name: string): Promise<void> {
  await within.getByRole("link", { name, exact: true }).click();
}

/** Opens or closes the history of a file, by the line with its version, size and age. */
export async function toggleHistory(page: Page): Promise<void> {
  await page.getByRole("link", { name: /History$/i }).click();
}

/** Chooses an action in the menu of the file or folder on screen. */
export async function choose(page: Page, action: string): Promise<void> {
  await page.getByRole("main").getByRole("button", { name: /^Actions for / }).first().click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

/** Waits for a notice or a status with this text. */
export async function says(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
}

/** Waits until the text is no longer visible. */
export async function isGone(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor({ state: "hidden" });
}

/** Types the text at the end of the file in the editor. */
export async function typeAtEnd(page: Page, path: string, text: string): Promise<void> {
  await page.getByRole("textbox", { name: `Edit ${path}` }).click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText(text);
  await says(page, "Unsaved changes.");
}

/** Returns the source in a file's view once it is loaded. If the view shows another form, switches to the source. */
export async function shownText(page: Page, label: string): Promise<string> {
  const content = page.getByLabel(label, { exact: true });
  await content.waitFor();
  if (await content.and(page.locator(".cm-content")).count() === 0) await press(page, "Source");
  const source = content.and(page.locator(".cm-content"));
  await source.waitFor();
  return (await source.locator(".cm-line").allTextContents()).join("\n");
}

/** Waits until the control has the focus, because the page draws a moment after a key or a click. */
export async function becomesFocused(page: Page, control: Locator): Promise<void> {
  const element = await control.elementHandle();
  await page.waitForFunction((element) => element === document.activeElement, element);
}
