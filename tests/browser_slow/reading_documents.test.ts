/** Reading Markdown: rendered, with its links and images inside the project. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { follow, press, shownText } from "../support/browser/page_actions.ts";

const PNG = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
);
const SECTIONS = Array.from(
  { length: 60 },
  (_, index) => `## Part ${index}\n\n${"Some words. ".repeat(40)}\n`,
);
const GUIDE = `---
title: The guide
---
# The guide & more

Some **bold** words, ~~gone~~ ones, \`code\`, a footnote[^1] and <kbd>HTML</kbd>. <!-- nobody reads this -->

- [x] done
- [ ] open

| name | count |
| :--- | ----: |
| one  |     1 |

\`\`\`ts
const answer: number = 42;
\`\`\`

[below](#part-50) [next](../other%20file.md#there) [line](code.ts#L2) [root](/readme.md) [folder](images/)
[out](https://example.com/page) [script](javascript:alert(1)) [data](data:text/html,x) [tab](java&Tab;script:alert(1))

![in the project](images/dot.png) ![elsewhere](https://example.com/picture.png) ![missing](images/none.png)

[^1]: At the end.

${SECTIONS.join("\n")}
## Part 1
`;

const { test } = await browserSuite();

test("markdown: a document is rendered, and its source is one click away", async (visit) => {
  const { page, step, open, calls, account: { files } } = visit;
  await files.write("docs/guide.md", GUIDE);
  await files.write("docs/code.ts", "first\nsecond\nthird\n");
  await files.write("readme.md", "# Read me\n");
  await files.write("other file.md", "# Here\n\n# There\n");
  await files.writeBytes("docs/images/dot.png", PNG);
  const document = page.getByRole("article", { name: "Content of docs/guide.md" });
  await step("what Markdown marks is elements", async () => {
    await open("file/docs/guide.md");
    await document.getByRole("heading", { name: "The guide & more" }).waitFor();
    assertEquals(await texts(document, "strong, del, p > code, td"), [
      "bold",
      "gone",
      "code",
      "<kbd>",
      "</kbd>",
      "one",
      "1",
    ]);
    assertEquals(await texts(document, "pre"), ["title: The guide", "const answer: number = 42;\n"]);
    assertEquals(await document.getByRole("checkbox", { name: "Done", exact: true }).isChecked(), true);
    assertEquals(await document.getByRole("checkbox", { name: "Not done" }).isChecked(), false);
    assert(!(await document.innerText()).includes("nobody reads this"), "a comment is no text");
  });
  await step("links lead to places of the project, to the web in a tab of its own, or nowhere", async () => {
    const start = new URL(page.url()).hash.split("/file/")[0];
    const links = await document.getByRole("link").evaluateAll((all) =>
      all.map((link) => [link.textContent, link.getAttribute("href"), link.getAttribute("target")])
    );
    assertEquals(links.filter(([text]) => /^(next|line|root|folder|out|script|data|tab)$/.test(text ?? "")), [
      ["next", `${start}/file/other%20file.md?heading=there`, null],
      ["line", `${start}/file/docs/code.ts?line=2`, null],
      ["root", `${start}/file/readme.md`, null],
      ["folder", `${start}/files/docs/images`, null],
      ["out", "https://example.com/page", "_blank"],
      // An odd name, but a valid one.
      ["tab", `${start}/file/docs/java%09script%3Aalert(1)`, null],
    ]);
  });
  await step("an image of the project is loaded with the session, one of the web is a link", async () => {
    const image = document.getByRole("img", { name: "in the project" });
    await image.scrollIntoViewIfNeeded();
    await page.waitForFunction(
      (one) => one instanceof HTMLImageElement && one.naturalWidth === 1,
      await image.elementHandle(),
    );
    assertMatch(await image.getAttribute("src") ?? "", /^blob:/);
    assertEquals(
      await document.getByRole("link", { name: /elsewhere/ }).getAttribute("href"),
      "https://example.com/picture.png",
    );
    await document.getByText("missing (image not shown:").waitFor();
    const images = calls.filter((call) => call.includes("dot.png"));
    assertEquals(images, ["GET /files/docs/images/dot.png"]);
  });
  await step("a heading has an address, and a link to it scrolls there", async () => {
    await follow(document, "below");
    const heading = document.getByRole("heading", { name: "Part 50" });
    await inView(heading);
    assertMatch(page.url(), /\?heading=part-50$/);
    await page.reload();
    await inView(heading);
    // A second heading with the same name gets a number, as on GitHub.
    assertEquals(
      await document.getByRole("heading", { name: "Part 1 " }).last().getAttribute("id"),
      "user-content-part-1-1",
    );
  });
  await step("the source, and back", async () => {
    assertEquals((await shownText(page, "Content of docs/guide.md")).slice(0, 20), GUIDE.slice(0, 20));
    assertMatch(page.url(), /\?show=source$/);
    await page.reload();
    assertEquals((await shownText(page, "Content of docs/guide.md")).slice(0, 20), GUIDE.slice(0, 20));
    await press(page, "Rendered");
    await document.waitFor();
  });
  await step("links are followed inside the console", async () => {
    await follow(document, "next");
    await inView(page.getByRole("heading", { name: "There" }));
    await page.goBack();
    await follow(document, "line");
    await page.locator(".cm-shownLine").getByText("second").waitFor();
  });
});

test("markdown: nesting without end and a megabyte of text are rendered, and the page answers meanwhile", async (visit) => {
  const { page, part, open, account: { files } } = visit;
  await part("ten thousand quotes in each other", async () => {
    await files.write("deep.md", `${"> ".repeat(10_000)}deep\n\nafter\n`);
    await open("file/deep.md");
    await page.getByLabel("Content of deep.md").or(page.getByText("cannot be rendered")).first().waitFor();
    await press(page, "Source");
    await page.locator(".cm-content").waitFor();
  });
  await part("a megabyte", async () => {
    const text = "A paragraph with *some* [links](a.md) and `code`.\n\n".repeat(20_000);
    await files.write("long.md", text.slice(0, 1024 * 1024));
    await open("file/long.md");
    // The tools work while the document is parsed.
    await press(page, "Source");
    await page.locator(".cm-content").waitFor();
    await press(page, "Rendered");
    await page.getByRole("article", { name: "Content of long.md" }).waitFor();
  });
});

test("markdown: code of known languages has the colours of the source, loaded when it comes into view", async (visit) => {
  const { page, part, open, fetched, account: { files } } = visit;
  const fence = (word: string, code: string) => `\`\`\`${word}\n${code}\`\`\`\n`;
  const far = `${"Words.\n\n".repeat(400)}`;
  const code = "const name = `<b>${1}</b>`; // why\n";
  await files.write("far.md", `${far}${fence("ts", code)}`);
  await files.write("code.ts", code);
  const document = page.getByRole("article");
  const isLoaded = () => fetched.some((url) => /\/highlight-/.test(url));
  const coloured = document.locator("pre span");
  await part("nor before it is in view", async () => {
    await open("file/far.md");
    await document.getByText("Words.").first().waitFor();
    await document.locator("pre").waitFor({ state: "attached" });
    await page.evaluate(settled);
    assertEquals([isLoaded(), await coloured.count()], [false, 0]);
  });
  await part("then it has the colours of the source, and its text alone", async () => {
    await document.locator("pre").scrollIntoViewIfNeeded();
    await coloured.first().waitFor();
    assert(isLoaded());
    assertEquals(await document.locator("pre").textContent(), code);
    assertEquals(await document.locator("pre b").count(), 0);
    const inDocument = await coloursOf(document.locator("pre span"));
    for (const text of ["const", "1", "// why"]) assert(inDocument.has(text), text);
    await open("file/code.ts");
    await page.locator(".cm-line span").first().waitFor();
    const inSource = await coloursOf(page.locator(".cm-line span"));
    for (const [text, colour] of inSource) assertEquals(inDocument.get(text), colour, text);
    assert(new Set(inSource.values()).size >= 4, JSON.stringify([...inSource]));
  });
});

/** Resolves after the page's observers have examined the drawn content and their effects have run. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    const observer = new IntersectionObserver(() => {
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => setTimeout(resolve))));
    });
    observer.observe(document.body);
  });
}

/** Returns the colour of each part of a code, by the text of the part. */
async function coloursOf(spans: Locator): Promise<Map<string, string>> {
  return new Map(
    await spans.evaluateAll((all) =>
      all.map((span) => [span.textContent ?? "", getComputedStyle(span).color] as [string, string])
    ),
  );
}

async function texts(within: Locator, selector: string): Promise<string[]> {
  return await within.locator(selector).allTextContents();
}

async function inView(element: Locator): Promise<void> {
  await element.waitFor();
  const page: Page = element.page();
  await page.waitForFunction((one) => {
    const { top, bottom } = one?.getBoundingClientRect() ?? { top: -1, bottom: -1 };
    return top >= 0 && bottom <= globalThis.innerHeight;
  }, await element.elementHandle());
}
