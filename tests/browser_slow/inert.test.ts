/** Files are shown and never run, and the page's policy would stop whatever ran anyway. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { choose, follow, press, shownText, toggleHistory } from "../support/browser/page_actions.ts";

/** The server that the traps would call. */
const calledPaths: string[] = [];
const stranger: Deno.HttpServer<Deno.NetAddr> = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  (request): Response => {
    const { pathname } = new URL(request.url);
    if (pathname === "/bare") return new Response(HTML, { headers: { "content-type": "text/html" } });
    // The browser itself requests this some time after it has shown the bare page.
    // What the bare page calls by itself proves that the traps work; it may call once more after its test.
    const isOfBarePage = request.headers.get("referer")?.startsWith(STRANGER) === true;
    if (pathname !== "/favicon.ico" && !isOfBarePage) calledPaths.push(pathname);
    return new Response("", { headers: { "access-control-allow-origin": "*" } });
  },
);
const STRANGER = `http://127.0.0.1:${stranger.addr.port}`;
Deno.test.afterAll(() => stranger.shutdown());

const SCRIPT = `globalThis.wasRun = true; fetch("${STRANGER}/fetched")`;
const HTML = `<!doctype html><script>${SCRIPT}</script><img src="${STRANGER}/picture" onerror='${SCRIPT}'>
<iframe src="${STRANGER}/frame"></iframe><a href='javascript:${SCRIPT}'>x</a><p>the text</p>\n`;
const SVG =
  `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" onload='${SCRIPT}'><script>${SCRIPT}</script>
<image href="${STRANGER}/image" width="5" height="5"/><rect width="20" height="10"/></svg>\n`;
/** Traps in Markdown syntax, in addition to those in HTML. */
const MARKDOWN = `# <img src="${STRANGER}/heading" onerror='${SCRIPT}'>

${HTML}
<svg onload='${SCRIPT}'></svg>

[script](<javascript:${SCRIPT}>) <javascript:wasRun=true> [page](data:text/html;base64,${btoa(HTML)})
[reference][1] [quotes](x "'onmouseover='wasRun=true")

![drawing](pictures/drawing.svg) ![page](page.html) ![web](${STRANGER}/web.png) ![inside](data:image/svg+xml;base64,${
  btoa("<svg/>")
}) ![script](<javascript:${SCRIPT}>)

\`\`\`html
${HTML}\`\`\`

\`\`\`js"onmouseover='wasRun=true'
${SCRIPT}; const markup = \`${HTML}\`;
\`\`\`

\`\`\`css
@import "${STRANGER}/sheet"; pre { background: url("${STRANGER}/background") }
\`\`\`

\`\`\`md
${HTML}
![picture](${STRANGER}/markdown.png)
\`\`\`

[1]: <javascript:${SCRIPT}> "title"
`;
/** Languages of the fences above, whose content is highlighted. */
const CODE_LANGUAGES = ["html", `js"onmouseover='wasRun=true'`, "css", "md"];
/** A trap in every format that is shown as a table or a tree. */
const CELLS = [`=HYPERLINK("${STRANGER}/formula")`, `=cmd|' /C calc'!A0`, HTML, `javascript:${SCRIPT}`];
const CSV = `${["=1+1", "+2", "-3", "@x"].join(",")}\n${
  CELLS.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")
}\n`;
const JSON_TEXT = JSON.stringify({ [HTML]: CELLS, constructor: SVG }).replace(
  "{",
  `{"__proto__": {"wasRun": 1}, `,
);
const NAME = `<img src=x onerror=${encodeURIComponent("wasRun=true")}>.md`;

const { test } = await browserSuite();

test("preview: HTML, SVG, Markdown, CSV and JSON with scripts are shown and nothing in them runs", async (visit) => {
  const { page, step, open, fetched, service, account: { files } } = visit;
  const contents = {
    "page.html": HTML,
    "drawing.svg": SVG,
    "notes.md": MARKDOWN,
    [NAME]: HTML,
    "table.csv": CSV,
    "lines.jsonl": `${JSON_TEXT}\n`,
    "tree.json": JSON_TEXT,
  };
  for (const [path, content] of Object.entries(contents)) {
    await files.write(path, content);
    await files.overwrite(path, `${content}<script>${SCRIPT}</script>\n`);
  }
  await files.write("pictures/drawing.svg", SVG);
  const nothingRan = async () => {
    assertEquals(await wasRun(page), false);
    assertEquals(calledPaths, []);
    assertEquals(
      fetched.filter((url) => !url.startsWith(`${service.stack.supabaseUrl}/`) && !/^(blob|data):/.test(url)),
      [],
    );
  };
  for (const path of Object.keys(contents)) {
    // History, comparisons and the editor show every type in the same way.
    const isWhole = path === "page.html" || path === NAME;
    await step(`${path}: content${isWhole ? ", history, both comparisons and the editor" : ""}`, async () => {
      await open("files");
      await follow(page, path);
      await page.getByLabel(`Content of ${path}`, { exact: true }).waitFor();
      await nothingRan();
      const source = await shownText(page, `Content of ${path}`);
      // In CSV and JSON, quotes are doubled or escaped.
      assertStringIncludes(source.replaceAll(/\\"|""/g, '"'), SCRIPT);
      await nothingRan();
      if (!isWhole) return;
      await choose(page, "Compare versions");
      await page.getByRole("region", { name: "Changes from version 1 to 2" }).waitFor();
      await page.getByLabel("Layout").selectOption("Side by side");
      await page.getByLabel("Version 2", { exact: true }).waitFor();
      await toggleHistory(page);
      await page.getByRole("list", { name: `Versions of ${path}` }).waitFor();
      await follow(page, "Edit");
      await page.getByRole("textbox", { name: `Edit ${path}` }).waitFor();
      await nothingRan();
    });
  }
  await step("a document has no element that could run, and its pictures are the project's own", async () => {
    await open("file/notes.md");
    const document = page.getByRole("article", { name: "Content of notes.md" });
    await document.getByRole("img", { name: "drawing" }).waitFor();
    await document.getByText("page (image not shown: Its type is text/html.)").waitFor();
    for (const language of CODE_LANGUAGES) {
      const code = document.getByRole("region", { name: `Code in ${language}`, exact: true });
      await code.scrollIntoViewIfNeeded();
      await code.locator("span").first().waitFor();
    }
    const seen = await document.evaluate((article) => ({
      elements: [...new Set([...article.querySelectorAll("*")].map(({ localName }) => localName))].sort(),
      handlers: [...article.querySelectorAll("*")].flatMap((one) => one.getAttributeNames())
        .filter((name) => name.startsWith("on") || name === "style" || name === "srcdoc"),
      addresses: [...article.querySelectorAll("[href], [src]")]
        .map((one) => one.getAttribute("href") ?? one.getAttribute("src") ?? "")
        .filter((address) => !address.startsWith("#/p/") && !address.startsWith("blob:")),
    }));
    assertEquals(
      seen.elements.filter((name) => /^(script|iframe|object|embed|svg:|style|form|base|meta)$/.test(name)),
      [],
    );
    assertEquals(seen.handlers, []);
    // A written address becomes a link that a person may follow, in a tab of its own.
    assertEquals([...new Set(seen.addresses)], [`${STRANGER}/web.png`]);
    for (const name of ["script", "reference", "page"]) {
      await document.getByText(name, { exact: true }).first().click();
    }
    await nothingRan();
  });
  await step("cells are text, and rows and values in full are, too", async () => {
    await open("file/table.csv");
    await page.getByRole("columnheader", { name: "=1+1" }).waitFor();
    await press(page, "Show row 1");
    await page.getByRole("dialog").getByText(SCRIPT).first().waitFor();
    await nothingRan();
    await open("file/tree.json?version=1");
    await page.getByRole("treeitem").filter({ hasText: "onerror" }).last().click();
    await page.getByRole("dialog").locator("pre").waitFor();
    await nothingRan();
  });
  await step("pages and drawings that are named like sound, film and pictures are none", async () => {
    for (const name of ["sound.mp3", "film.mp4", "picture.png", "paper.pdf", "icon.ico"]) {
      await files.writeBytes(name, new TextEncoder().encode(name === "film.mp4" ? SVG : HTML));
      await open(`file/${name}`);
      await page.getByRole("alert").or(page.getByLabel(`Content of ${name}`)).first().waitFor();
      await nothingRan();
    }
  });
  await step("an SVG as a picture is drawn, dead", async () => {
    await open("file/drawing.svg?version=1");
    await press(page, "Show as picture");
    await page.getByText("20 × 10").waitFor();
    await nothingRan();
  });
});

test("preview: the traps of these tests do run where nothing stops them", async (visit) => {
  const { page } = visit;
  const called = page.waitForResponse(`${STRANGER}/fetched`);
  await page.goto(`${STRANGER}/bare`);
  await called;
  assertEquals(await wasRun(page), true);
}, { expectsProblems: true });

test("policy: strict in header and page, and it stops what is injected", async (visit) => {
  const { page, step, open, problems, service } = visit;
  await step("nothing inline, nothing evaluated, no plugins, no frames", async () => {
    const response = await fetch(`${service.stack.supabaseUrl}/console/`);
    const inHeader = directives(response.headers.get("content-security-policy") ?? "");
    const html = await response.text();
    const inPage = directives(
      /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/.exec(html)?.[1] ?? "",
    );
    for (const policy of [inHeader, inPage]) {
      assertEquals(policy["default-src"], "'none'");
      assertEquals([policy["script-src"], policy["style-src"], policy["connect-src"]], [
        "'self'",
        "'self'",
        "'self'",
      ]);
      assertEquals(policy["media-src"], "blob:");
      assertEquals([policy["object-src"], policy["frame-src"], policy["base-uri"]], [
        "'none'",
        "'none'",
        "'none'",
      ]);
      assert(!/unsafe|\*/.test(Object.values(policy).join(" ")), JSON.stringify(policy));
    }
    assertEquals(inHeader["frame-ancestors"], "'none'");
    assertEquals(response.headers.get("x-content-type-options"), "nosniff");
  });
  await step(
    "an injected script, handler, evaluation, request, picture, frame and object are refused",
    async () => {
      await open("files");
      await page.getByText("There are no files yet.").waitFor();
      const refused = await page.evaluate(violate, { script: SCRIPT, stranger: STRANGER });
      assertEquals(refused.sort(), [
        "connect-src",
        "frame-src",
        "img-src",
        "object-src",
        "script-src",
        "script-src-attr",
        "script-src-elem",
      ]);
      assertEquals([await wasRun(page), calledPaths], [false, []]);
      assert(problems.length >= 5, problems.join("\n"));
    },
  );
}, { expectsProblems: true });

/** Violates every part of the policy in the page, and returns the parts that blocked it. */
async function violate({ script, stranger }: { script: string; stranger: string }): Promise<string[]> {
  const refused = new Set<string>();
  const allRefused = new Promise<void>((resolve) => {
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
      refused.add(effectiveDirective);
      if (refused.size === 7) resolve();
    });
    setTimeout(resolve, 10_000);
  });
  const place = document.createElement("div");
  document.body.append(place);
  const inline = document.createElement("script");
  inline.textContent = script;
  place.append(inline);
  place.insertAdjacentHTML(
    "beforeend",
    `<img src="${stranger}/img"><iframe src="${stranger}/frame"></iframe>`,
  );
  place.insertAdjacentHTML("beforeend", `<object data="${stranger}/object"></object>`);
  const button = document.createElement("button");
  button.setAttribute("onclick", script);
  place.append(button);
  button.click();
  fetch(`${stranger}/fetch`).catch(() => {});
  // In a task of its own, because code evaluated by a debugger may call `eval`.
  setTimeout(() => {
    try {
      new Function(script)();
    } catch {
      // The policy refused it, as expected.
    }
  });
  await allRefused;
  return [...refused];
}

async function wasRun(page: Page): Promise<boolean> {
  return await page.evaluate(() => "wasRun" in globalThis);
}

function directives(policy: string): Record<string, string> {
  return Object.fromEntries(
    policy.split(";").map((part) => {
      const [name = "", ...values] = part.trim().split(/\s+/);
      return [name, values.join(" ")];
    }),
  );
}
