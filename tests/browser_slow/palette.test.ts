/** The command palette and the list of shortcuts, by keyboard alone, and the requests they send. */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import type { Locator, Page } from "playwright-core";
import { keyNames, SHORTCUTS } from "../../supabase/console/src/components/shortcut_table.ts";
import { populate } from "../bench/populate.ts";
import { graveFindings } from "../support/browser/axe.ts";
import { browserSuite } from "../support/browser/browser.ts";
import { becomesFocused, dialog, says, shownText } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

const RUN = "nightly-42";

test("palette: a file, a folder, a run, a key, a view and an action are a few keys away", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("notes/deep/quarterly plan.md", "the plan\n");
  await files.request("POST", "/files", {
    body: { path: "other.csv", content: "a,b\n" },
    headers: { "x-run-id": RUN, "x-actor": "planner/2.1" },
  });
  const palette = dialog(page, "Commands");
  const field = palette.getByRole("combobox");

  await step("it opens with what can be done here, takes the focus, and gives it back", async () => {
    await open("files");
    const link = page.getByRole("table").getByRole("link", { name: "notes" });
    await link.focus();
    await ask(page);
    await becomesFocused(page, field);
    await option(palette, "View at a past time …").waitFor();
    await option(palette, "New file …").waitFor();
    assertEquals(await graveFindings(page), []);
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
    await becomesFocused(page, link);
  });
  await step("a file by words of its path, in any order", async () => {
    await ask(page, "PLAN quarter");
    await isActive(palette, "notes/deep/quarterly plan.md");
    assertEquals(await graveFindings(page), []);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "the plan" }).or(page.getByText("the plan")).first().waitFor();
    assertEquals(await shownText(page, "Content of notes/deep/quarterly plan.md"), "the plan\n");
  });
  await step("actions of the file that is open, without those of the folder", async () => {
    await ask(page, "rename");
    await isActive(palette, /^Move or rename …/);
    assertEquals(await option(palette, /^Rename …/).count(), 0);
    await page.keyboard.press("Enter");
    await dialog(page, "Move or rename").waitFor();
    await page.keyboard.press("Escape");
  });
  await step("a folder that has none but folders", async () => {
    await ask(page, "notes");
    await moveTo(page, palette, /^notes$/);
    await page.keyboard.press("Enter");
    await page.getByRole("table").getByRole("link", { name: "deep" }).waitFor();
  });
  await step("a run, with who has written it", async () => {
    await ask(page, "nightly");
    await isActive(palette, `${RUN} by planner/2.1`);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: `Run ${RUN}` }).waitFor();
  });
  await step("a key, which can be changed then", async () => {
    await ask(page, "test");
    await moveTo(page, palette, /^test/);
    await page.keyboard.press("Enter");
    await dialog(page, /^Edit test/).waitFor();
    await page.keyboard.press("Escape");
  });
  await step("an action of another view: a new key", async () => {
    await ask(page, "new api");
    await isActive(palette, "New API key …");
    await page.keyboard.press("Enter");
    await dialog(page, "New API key").waitFor();
    await page.keyboard.press("Escape");
  });
  await step("uploading: the browser asks for files", async () => {
    const chooser = page.waitForEvent("filechooser");
    await ask(page, "upload files");
    await isActive(palette, "Upload files …");
    await page.keyboard.press("Enter");
    await (await chooser).setFiles([{
      name: "up.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("up"),
    }]);
    await page.getByRole("link", { name: "up.txt" }).waitFor();
  });
  await step("what has come since is found, what is deleted is not", async () => {
    await files.write("arrived.md", "");
    await page.getByRole("link", { name: "arrived.md" }).waitFor();
    await files.request("DELETE", "/files/other.csv", {});
    await page.getByRole("link", { name: "other.csv" }).waitFor({ state: "detached" });
    await ask(page, "arrived");
    await isActive(palette, "arrived.md");
    await field.fill("other.csv");
    await isActive(palette, "Search in files for “other.csv”");
    await page.keyboard.press("Escape");
  });
  await step("signing out", async () => {
    await ask(page, "sign out");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});

test("palette: another project is opened, and only its files are found", async (visit) => {
  const { page, open, account: { files } } = visit;
  await files.write("mine.md", "");
  await open("files");
  await page.getByRole("link", { name: "mine.md" }).waitFor();
  const palette = dialog(page, "Commands");
  await ask(page, "mine");
  await isActive(palette, "mine.md");
  await page.keyboard.press("Escape");
  await ask(page, "new project");
  await page.keyboard.press("Enter");
  const form = dialog(page, "New project");
  await form.getByLabel("Name").fill("second");
  await page.keyboard.press("Enter");
  await says(page, "Project second is ready.");
  await ask(page, "mine");
  await isActive(palette, "Search in files for “mine”");
  await palette.getByRole("combobox").fill("switch");
  await isActive(palette, /^Switch to/);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "mine.md" }).waitFor();
});

test(
  "palette: no letter costs a request; names are read once, and beyond them the service is asked",
  async (visit) => {
    const { page, step, openFollowing, service, calls, account: { projectId, files } } = visit;
    await populate(service.stack, [{ id: projectId }], { files: 1_500, filesPerDirectory: 500 });
    await files.write("zz/the last of all.md", "");
    const palette = dialog(page, "Commands");
    const field = palette.getByRole("combobox");
    let counted = 0;
    const made = () => {
      const now = calls.slice(counted);
      counted = calls.length;
      return now.map((call) => decodeURIComponent(call));
    };
    await step("opening it asks for nothing", async () => {
      await openFollowing("keys");
      await page.getByRole("table", { name: "API keys, newest first" }).waitFor();
      await page.getByRole("link", { name: "zz" }).waitFor();
      made();
      await ask(page);
      await option(palette, "New file …").waitFor();
      assertEquals(made(), []);
    });
    await step("the first letters read ten pages of names and the runs", async () => {
      await typeQuickly(field, "file-0000042");
      await says(
        page,
        "Searched 1,000 of 1,501 files by name, and others by search.",
      );
      await option(palette, /file-0000042\.txt$/).waitFor();
      const names = made();
      assertEquals(names.filter((call) => call.includes("recursive=true")).length, 10);
      assertEquals(names.filter((call) => call.startsWith("GET /runs")).length, 1);
      const others = names.filter((call) => !/recursive=true|^GET \/runs/.test(call));
      assertEquals(others.toSorted().map((call) => call.split("&")[0]), [
        "GET /files?limit=10",
        "GET /search?q=file-0000042",
      ]);
    });
    await step(
      "a name beyond them is found by the service, with two requests for all of its letters",
      async () => {
        await field.fill("");
        await typeQuickly(field, "zz/the last");
        await isActive(palette, "zz/the last of all.md");
        await says(page, ", and others by search.");
        const asked = made();
        assertEquals(asked.length, 2, asked.join("\n"));
      },
    );
  },
  { tier: "enterprise" },
);

test("palette: it is loaded when it is asked for, and never opens over a dialog", async (visit) => {
  const { page, open, fetched } = visit;
  const isPalette = (url: string) => /\/palette-[^/]*\.js$/.test(url);
  await open("keys");
  await page.getByRole("button", { name: "New key" }).click();
  await dialog(page, "New API key").waitFor();
  assertEquals(fetched.filter(isPalette), []);
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.press("Escape");
  await dialog(page, "New API key").waitFor({ state: "detached" });
  assertEquals(await dialog(page, "Commands").count(), 0);
  await page.getByRole("button", { name: "Commands" }).click();
  await dialog(page, "Commands").waitFor();
  assertEquals(fetched.filter(isPalette).length, 1);
});

test("shortcuts: the list has every one; a question mark in a field is a question mark", async (visit) => {
  const { page, open } = visit;
  await open("files");
  const filter = page.getByLabel("Filter by name");
  await filter.focus();
  await page.keyboard.type("?");
  assertEquals(await filter.inputValue(), "?");
  await filter.fill("");
  await page.getByRole("heading").or(page.getByText("There are no files yet.")).first().click();
  await page.keyboard.press("?");
  const list = dialog(page, "Keyboard shortcuts");
  await list.waitFor();
  assertEquals(await graveFindings(page), []);
  const rows = await list.locator("dl > div").evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll("kbd, dd")].map((part) => part.textContent).join(" "))
  );
  assertEquals(
    rows.toSorted(),
    Object.values(SHORTCUTS).map(({ keys: [keys], text }) => [...keyNames(keys), text].join(" ")).toSorted(),
  );
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
});

/** Opens the palette and types the text. */
async function ask(page: Page, text = ""): Promise<void> {
  await page.keyboard.press("ControlOrMeta+k");
  await dialog(page, "Commands").getByRole("combobox").waitFor();
  await becomesFocused(page, dialog(page, "Commands").getByRole("combobox"));
  await page.keyboard.type(text);
}

function option(palette: Locator, name: string | RegExp): Locator {
  return palette.getByRole("option", { name });
}

/** Sends an event for each letter, with no time between them. */
async function typeQuickly(field: Locator, text: string): Promise<void> {
  await field.evaluate((element, text) => {
    if (!(element instanceof HTMLInputElement)) throw new Error("no field");
    for (let length = 1; length <= text.length; length++) {
      element.value = text.slice(0, length);
      element.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }
  }, text);
}

/** Waits until Enter would run the option with this name. */
async function isActive(palette: Locator, name: string | RegExp): Promise<void> {
  await palette.getByRole("option", { name, selected: true }).waitFor();
  const field = palette.getByRole("combobox");
  const [active, id] = await Promise.all([
    field.getAttribute("aria-activedescendant"),
    palette.getByRole("option", { selected: true }).getAttribute("id"),
  ]);
  assertEquals(active, id);
}

/** Presses the arrow key until the option is active. */
async function moveTo(page: Page, palette: Locator, name: string | RegExp): Promise<void> {
  await option(palette, name).first().waitFor();
  const active = palette.getByRole("option", { name, selected: true });
  const count = await palette.getByRole("option").count();
  for (let steps = 0; steps < count && await active.count() === 0; steps++) {
    await page.keyboard.press("ArrowDown");
  }
  await active.waitFor();
}
