/** Searching: in upper or lower case, with the query in the address, and results that open at their line. */
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { follow, isGone, press, says } from "../support/browser/page_actions.ts";
import { indexed } from "../support/client/search.ts";

const LINES = 400;
const LINE = 300;

const { test } = await browserSuite();

test("search: case does not count unless it is asked for", async ({ page, open, service, account: { files, projectId } }) => {
  await files.write("a.md", "Battery prices\n");
  await files.write("b.md", "battery prices\n");
  await indexed(service, projectId);
  await open("files");
  await page.getByLabel("Search in files").fill("BATTERY");
  await page.keyboard.press("Enter");
  await result(page, "a.md").waitFor();
  await result(page, "b.md").waitFor();
  await page.getByLabel("Match case").check();
  await says(page, "Nothing matches “BATTERY”.");
  await page.getByLabel("Search in files").fill("Battery");
  await page.keyboard.press("Enter");
  await result(page, "a.md").waitFor();
  assertEquals(await result(page, "b.md").count(), 0);
  assert(await page.getByLabel("Match case").isChecked(), "it holds for the next question, too");
});

test("search: mode, folder, file names and page are in the address, and survive opening a result", async (visit) => {
  const { page, step, open, service, account: { files, projectId } } = visit;
  await files.commit(
    Array.from({ length: 25 }, (_, index) => ({
      op: "write",
      path: `notes/${index + 10}.md`,
      content: `plan ${index + 10}\n`,
    })),
  );
  await files.write("notes/plan.txt", "plan 99\n");
  await files.write("elsewhere.md", "plan 98\n");
  await indexed(service, projectId);
  const paths = () => page.locator(".results .row-link").allInnerTexts();
  await step("each is kept, and asked for at once", async () => {
    await open("search?q=nothing");
    await says(page, "Nothing matches");
    await page.getByLabel("Search by").selectOption("Regular expression");
    await page.getByLabel("Folder", { exact: true }).fill("notes");
    await page.getByLabel("File names").fill("*.md");
    await press(page, "Apply");
    await page.getByLabel("Search in files").fill("pl.n [0-9]+");
    await page.keyboard.press("Enter");
    await result(page, "notes/10.md").waitFor();
    await press(page, "Next");
    await result(page, "notes/34.md").waitFor();
    assertEquals(await paths(), ["notes/30.md", "notes/31.md", "notes/32.md", "notes/33.md", "notes/34.md"]);
  });
  const isAsked = async () => {
    await result(page, "notes/34.md").waitFor();
    assertEquals(await page.getByLabel("Search in files").inputValue(), "pl.n [0-9]+");
    assertEquals(await page.getByLabel("Search by").inputValue(), "regex");
    assertEquals(await page.getByLabel("Folder", { exact: true }).inputValue(), "notes");
    assertEquals(await page.getByLabel("File names").inputValue(), "*.md");
    assertEquals((await paths()).length, 5);
  };
  await step("after going back, with the focus on the result that was opened", async () => {
    await result(page, "notes/32.md").click();
    await page.getByLabel("Content of notes/32.md").waitFor();
    await page.goBack();
    await isAsked();
    await result(page, "notes/32.md").and(page.locator(":focus")).waitFor();
  });
  await step("after a reload", async () => {
    await page.reload();
    await isAsked();
  });
  await step("and a new question begins at its first page", async () => {
    await page.getByLabel("Search in files").fill("plan");
    await page.keyboard.press("Enter");
    await result(page, "notes/10.md").waitFor();
    assertEquals((await paths()).length, 20);
  });
});

test("search: a result opens at its line", async (visit) => {
  const { page, step, open, service, account: { files, projectId } } = visit;
  const lines = Array.from({ length: LINES }, (_, index) => `line ${index + 1}`);
  lines[LINE - 1] = "here is the needle";
  lines[LINES - 5] = "and here is another needle";
  await files.write("long.md", lines.join("\n"));
  await indexed(service, projectId);
  const shown = page.locator(".cm-shownLine");
  await step("the first one, from the file's name", async () => {
    await open("search?q=needle");
    await result(page, "long.md").click();
    await shown.waitFor();
    assertEquals(await shown.innerText(), "here is the needle");
    assert(await isInView(page), "it is in view");
  });
  await step("any other, from its line", async () => {
    await page.goBack();
    await follow(page, `Line ${LINES - 4} and here is another needle`);
    await shown.waitFor();
    assertEquals(await shown.innerText(), "and here is another needle");
    assert(await isInView(page), "it is in view");
  });
  await step("an address with a line that is gone opens at the last one", async () => {
    await open("file/long.md?line=9999");
    await shown.filter({ hasText: `line ${LINES}` }).waitFor();
  });
});

test("search: the page reports the files that were not searched", async ({ page, open, service, account: { files, projectId } }) => {
  await files.writeBytes("needle.bin", new Uint8Array([0xff, 0xfe, 0x00]));
  await indexed(service, projectId);
  await open("search?q=needle");
  await result(page, "needle.bin").waitFor();
  await says(page, "Found by its name: files that are not text are not searched.");
  // Simulates the moment after a write, when the index is not up to date.
  await page.route(`${service.baseUrl}/search?**`, async (route) => {
    const body = await (await route.fetch()).json();
    body.data.notSearched = { files: 2, bytes: 2048, paths: ["new.md", "newer.md"], reasons: ["pending"] };
    await route.fulfill({ json: body });
  }, { times: 1 });
  await open(`search?q=nowhere&for=${projectId}`);
  const told = "2 files (2 KB) were not searched: just written.";
  await says(page, told);
  await page.getByText("Show them").click();
  await says(page, "newer.md");
  await press(page, "Search again");
  await isGone(page, told);
  await says(page, "Nothing matches “nowhere”.");
});

test("search: hits are highlighted and counted, and an empty result offers a wider search", async (visit) => {
  const { page, part, open, service, account: { files, projectId } } = visit;
  await files.write("notes/a.md", "Battery prices (Q3)\nno more\nbattery and BATTERY\n");
  await files.write("b.md", "battery prices\n");
  await indexed(service, projectId);
  const marks = page.locator(".results mark");
  const isMarked = async (...expected: string[]) => {
    await marks.nth(expected.length - 1).waitFor();
    assertEquals(await marks.allInnerTexts(), expected);
  };
  await part("every hit of a text, with its number of files and lines", async () => {
    await open("search?q=battery");
    await isMarked("battery", "Battery", "battery", "BATTERY");
    await says(page, "2 files, 3 lines");
  });
  await part("characters that an expression would read are text", async () => {
    await open("search?q=%28Q3%29");
    await says(page, "1 file, 1 line");
    await isMarked("(Q3)");
  });
  await part("the hits of an expression", async () => {
    await open("search?q=pri%5Ba-z%5D%2B&mode=regex");
    await isMarked("prices", "prices");
  });
  await part("an expression that a browser may not finish marks nothing, and finds", async () => {
    await open("search?q=%28b%7Ca%2B%29%2Bt*&mode=regex");
    await result(page, "b.md").waitFor();
    assertEquals(await marks.count(), 0);
  });
  await part("words, in other forms, too", async () => {
    await open("search?q=price&mode=hybrid");
    await isMarked("prices", "prices");
  });
  await part("what is offered where nothing is found leads there", async () => {
    await open("search?q=Prices&caseSensitive=true&directory=notes");
    await follow(page, "Ignore upper and lower case");
    await isMarked("prices");
    await open("search?q=Q3&directory=nowhere");
    await follow(page, "Search the whole project");
    await isMarked("Q3");
    await open("search?q=zebra");
    await page.getByRole("link", { name: "Search by text and meaning" }).waitFor();
    await open("search?q=zebra.*&mode=regex");
    await page.getByRole("link", { name: "Search as text" }).waitFor();
  });
});

test("search: what is wrong with an expression is said in a sentence, with the search as text beside it", async (visit) => {
  const { page, part, open, service, account: { files, projectId } } = visit;
  await files.write("a.md", "call(a\n");
  await indexed(service, projectId);
  const cases = [
    ["call(a", "The parenthesis is not closed."],
    ["a)", "A parenthesis is closed that was not opened."],
    ["[a", "The square bracket is not closed."],
    ["*a", "There is nothing to repeat"],
    ["\\d", "\\d is not supported: write [0-9]."],
    ["[z-a]", "A range is in the wrong order"],
  ] as const;
  for (const [q, sentence] of cases) {
    await part(q, async () => {
      await open(`search?mode=regex&q=${encodeURIComponent(q)}`);
      await says(page, sentence);
    });
  }
  await part("as text, it is found", async () => {
    await open(`search?mode=regex&q=${encodeURIComponent("call(a")}`);
    await follow(page, "Search as text");
    await result(page, "a.md").waitFor();
  });
});

function result(page: Page, path: string) {
  return page.locator(".results").getByRole("link", { name: path, exact: true });
}

async function isInView(page: Page): Promise<boolean> {
  return await page.locator(".cm-shownLine").evaluate((element) =>
    new Promise<boolean>((resolve) => {
      new IntersectionObserver(([entry]) => resolve(entry?.isIntersecting ?? false)).observe(element);
    })
  );
}
