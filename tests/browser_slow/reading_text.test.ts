/** Reading source: long logs from their end, links to lines, wrapping, copying. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { press, says } from "../support/browser/page_actions.ts";

const LINES = 60_000;
const logLine = (number: number) => `line ${number} of a log that is longer than what is loaded as a whole`;

const { test } = await browserSuite();

test("log: a large text opens at its end, and earlier lines come when they are asked for", async (visit) => {
  const { page, step, open, calls, account: { files } } = visit;
  await files.write(
    "run.log",
    `${Array.from({ length: LINES }, (_, index) => logLine(index + 1)).join("\n")}\n`,
  );
  const reads = () =>
    calls.filter((call) => call.includes("lines=")).map((call) => /lines=([^&]*)/.exec(call)?.[1]);
  await step("the last lines are read, and nothing else of it", async () => {
    await open("file/run.log");
    await says(page, "Lines 59,501 to 60,000 of 60,000.");
    await lineOf(page, LINES).waitFor();
    assertEquals(reads(), ["-500"]);
    assertEquals(calls.filter((call) => /run\.log\?version=1$/.test(call)), []);
    assert(await page.getByRole("button", { name: "Later lines" }).isDisabled());
  });
  await step("earlier ones join them, and the one that was first stays in view", async () => {
    await press(page, "Earlier lines");
    await says(page, "Lines 59,001 to 60,000 of 60,000.");
    await lineOf(page, 59_501).waitFor();
    await numberOf(page, 59_501).waitFor();
    assertEquals(reads(), ["-500", "59001-59500"]);
  });
  await step("any line is gone to", async () => {
    await page.keyboard.press("Control+g");
    await page.keyboard.type("30000");
    await page.keyboard.press("Enter");
    await says(page, "Lines 29,750 to 30,249 of 60,000.");
    await page.locator(".cm-shownLine").getByText(logLine(30_000), { exact: true }).waitFor();
    assertMatch(page.url(), /\?line=30000$/);
    await press(page, "Later lines");
    await says(page, "Lines 29,750 to 30,749 of 60,000.");
  });
  await step("the first, the last, and one beyond it", async () => {
    await press(page, "First");
    await page.locator(".cm-shownLine").getByText(logLine(1), { exact: true }).waitFor();
    await press(page, "Last");
    await lineOf(page, LINES).waitFor();
    await open("file/run.log?line=99999");
    await page.locator(".cm-shownLine").getByText(logLine(LINES), { exact: true }).waitFor();
  });
  await step("a line of megabytes is cut", async () => {
    await files.write("minified.txt", `first\n${"x".repeat(2_000_000)}\n`);
    await open("file/minified.txt");
    await says(page, "Lines 1 to 2 of 2. Longer lines are cut after 10,000 characters.");
  });
  await step("bytes that are no text are none here", async () => {
    await files.writeBytes("data.txt", new Uint8Array(1_500_000).fill(0xff), { contentType: "text/plain" });
    await open("file/data.txt");
    await says(page, "There is no preview for this content.");
  });
});

test("lines: a click on a number, the field and the address lead to a line, and its link can be copied", async (visit) => {
  const { page, context, step, open, account: { files } } = visit;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const text = `${Array.from({ length: 400 }, (_, index) => `const n${index + 1} = 1;`).join("\n")}\n`;
  await files.write("code.ts", text);
  const marked = page.locator(".cm-shownLine");
  await step("the number is a link", async () => {
    await open("file/code.ts");
    await numberOf(page, 3).click();
    await marked.getByText("const n3 = 1;", { exact: true }).waitFor();
    assertMatch(page.url(), /file\/code\.ts\?line=3$/);
    await press(page, "Copy link to line 3");
    await page.getByRole("button", { name: "Copied to line 3" }).waitFor();
    assertEquals(await copied(page), page.url());
  });
  await step("Ctrl-G in the text leads to the field, Enter to the line", async () => {
    await page.getByLabel("Content of code.ts").focus();
    await page.keyboard.press("Control+g");
    await page.keyboard.type("250");
    await page.keyboard.press("Enter");
    await marked.getByText("const n250 = 1;", { exact: true }).waitFor();
    assertMatch(page.url(), /\?line=250$/);
  });
  await step("Shift and a click mark all lines between, and their link can be copied", async () => {
    await open("file/code.ts?line=5");
    await marked.getByText("const n5 = 1;", { exact: true }).waitFor();
    await numberOf(page, 3).click({ modifiers: ["Shift"] });
    await marked.getByText("const n3 = 1;", { exact: true }).waitFor();
    assertEquals(await marked.allTextContents(), [3, 4, 5].map((number) => `const n${number} = 1;`));
    assertMatch(page.url(), /\?line=3-5$/);
    await press(page, "Copy link to lines 3 to 5");
    await page.getByRole("button", { name: "Copied to lines 3 to 5" }).waitFor();
    assertEquals(await copied(page), page.url());
  });
  await step("all of it is copied", async () => {
    await press(page, "Copy content of code.ts");
    await page.getByRole("button", { name: "Copied content of code.ts" }).waitFor();
    assertEquals(await copied(page), text);
  });
  await step("what is nested folds", async () => {
    await files.write("nested.ts", "function f() {\n  return 1;\n}\n");
    await open("file/nested.ts");
    await page.getByTitle("Fold line", { exact: true }).click();
    await page.getByLabel("folded code").waitFor();
  });
});

test("lines: wrapping is remembered", async (visit) => {
  const { page, open, account: { files } } = visit;
  await files.write("long.txt", `${"some words ".repeat(200)}\n`);
  const wrap = page.getByRole("button", { name: "Wrap lines" });
  /** The text is drawn again a moment after the button is pressed. */
  const becomes = async (wraps: boolean) => {
    await lineText(page, /some words/).waitFor();
    await page.waitForFunction((wraps) => {
      const scroller = document.querySelector(".code")?.shadowRoot?.querySelector(".cm-scroller");
      return scroller != null && (scroller.scrollWidth <= scroller.clientWidth) === wraps;
    }, wraps);
    assertEquals(await wrap.getAttribute("aria-pressed"), String(wraps));
  };
  await open("file/long.txt");
  await becomes(false);
  await wrap.click();
  await becomes(true);
  await page.reload();
  await becomes(true);
});

function lineOf(page: Page, number: number) {
  return lineText(page, logLine(number));
}

function lineText(page: Page, text: string | RegExp) {
  return page.locator(".cm-line").getByText(text, { exact: true });
}

function numberOf(page: Page, number: number) {
  return page.locator(".cm-lineNumbers .cm-gutterElement").getByText(String(number), { exact: true });
}

async function copied(page: Page): Promise<string> {
  return await page.evaluate(() => navigator.clipboard.readText());
}
