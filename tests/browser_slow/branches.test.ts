/** Branches in the console: created on a folder, compared, merged with a decision for each conflict, updated and closed. */
import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { graveFindings } from "../support/browser/axe.ts";
import { browserSuite } from "../support/browser/browser.ts";
import { becomesFocused, dialog, follow, press, says } from "../support/browser/page_actions.ts";
import { Branches } from "../support/client/branches.ts";
import { Files } from "../support/client/files.ts";

const { test } = await browserSuite();

const PHONE = { width: 390, height: 844 };
const CHANGES = "Changes in the branch";

test("a branch, from its folder to its merge and back: an agent works with a key made on the spot", async (visit) => {
  const { page, step, open, service, account: { files } } = visit;
  await files.write("notes/plan.md", "one\ntwo\nthree\n");
  await files.write("notes/old.md", "old\n");
  await files.write("other.md", "other\n");
  let agent = files;

  await step("it is created on its folder", async () => {
    await open("files");
    await press(page, "Actions for notes");
    await page.getByRole("menuitem", { name: "New branch …" }).click();
    const form = dialog(page, "New branch");
    assertEquals(await form.getByLabel("Folder").inputValue(), "notes");
    await form.getByLabel("Name").fill("a branch");
    await press(form, "Create branch");
    await form.locator(".field-problem").getByText("must be 1 to 64 of").waitFor();
    await form.getByLabel("Name").fill("try-1");
    await form.getByLabel("Title").fill("A shorter plan");
    await press(form, "Create branch");
    await page.getByRole("heading", { name: "Branch try-1" }).waitFor();
    await says(page, "A shorter plan");
    await says(page, "Nothing has changed here yet.");
  });
  await step(
    "its key reads and writes in the branch alone, and the next page has it in the lines to paste",
    async () => {
      await press(page, "Key …");
      const made = dialog(page, "A key for try-1");
      await press(made, "Create key");
      const key = await page.getByRole("region", { name: "The key" }).textContent() ?? "";
      await says(page, "It reaches only what is below .branches/try-1.");
      await page.getByRole("region", { name: "The settings of Claude Code" }).getByText(key).first()
        .waitFor();
      agent = new Files(service, key);
      assertEquals(await agent.paths({ recursive: true }), [
        ".branches/try-1/old.md",
        ".branches/try-1/plan.md",
      ]);
    },
  );
  await step("what the agent changes is listed, with both sides of each file", async () => {
    await open("branch/try-1");
    await agent.overwrite(".branches/try-1/plan.md", "one\ntwo, shorter\nthree\n");
    await agent.remove(".branches/try-1/old.md");
    await agent.write(".branches/try-1/new.md", "new\n");
    await new Branches(agent).change("try-1", { state: "ready", note: "Please look." });
    await press(page, "Refresh");
    await says(page, "1 added, 1 modified, 1 deleted");
    await says(page, "Please look.");
    assertEquals(await rowsOf(page, CHANGES), [
      "new.md added 1, folder –",
      "old.md deleted –, folder 1",
      "plan.md modified 2, folder 1",
    ]);
    await follow(page.getByRole("table", { name: CHANGES }), "plan.md");
    const sides = dialog(page, "plan.md");
    assertEquals(await linesOf(page, "In the folder"), ["one", "two", "three", ""]);
    assertEquals(await linesOf(page, "In the branch"), ["one", "two, shorter", "three", ""]);
    await press(sides, "Done");
    await sides.waitFor({ state: "detached" });
  });
  await step("the merge shows what it would do, and does nothing yet", async () => {
    await press(page, "Merge …");
    const asked = dialog(page, "Merge try-1?");
    await asked.getByText("2 files are written to the folder").waitFor();
    await asked.getByText("1 file is deleted in the folder").waitFor();
    await page.keyboard.press("Escape");
    await asked.waitFor({ state: "detached" });
    assertEquals(await files.paths({ recursive: true }), ["notes/old.md", "notes/plan.md", "other.md"]);
  });
  await step("merged: the branch shows its run, and its undo brings the folder back", async () => {
    await press(page, "Merge …");
    await dialog(page, "Merge try-1?").getByText("2 files are written to the folder").waitFor();
    await press(dialog(page, "Merge try-1?"), "Merge");
    await says(page, "Merged 3 files.");
    assertEquals(await files.paths({ recursive: true }), ["notes/new.md", "notes/plan.md", "other.md"]);
    await page.getByText(/^Merged by run/).waitFor();
    await page.reload();
    await page.getByRole("button", { name: /^Undo run / }).click();
    const undo = dialog(page, /^Undo run /);
    await undo.getByText("2 files get earlier content back").waitFor();
    await press(undo, "Undo the run");
    await says(page, "Undone: 3 files.");
    assertEquals(await files.paths({ recursive: true }), ["notes/old.md", "notes/plan.md", "other.md"]);
    assertEquals((await files.read("notes/plan.md")).content, "one\ntwo\nthree\n");
  });
});

test("conflicts: a side, or a text edited by hand, for each file; the merge does that and nothing else", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const branches = new Branches(files);
  for (const name of ["hand", "left", "right"]) await files.write(`notes/${name}.md`, "one\ntwo\n");
  await branches.create("try-1", { directory: "notes" });
  for (const name of ["hand", "left", "right"]) {
    await files.overwrite(`.branches/try-1/${name}.md`, "one\nbranch\n");
    await files.overwrite(`notes/${name}.md`, "one\nfolder\n");
  }
  const asked = dialog(page, "Merge try-1?");
  await open("branch/try-1");

  await step("each is named as a conflict, and the merge is refused as a whole", async () => {
    await says(page, "3 conflicts: open a file to choose what it becomes");
    await press(page, "Merge …");
    await asked.getByText("3 files are in conflict, and not decided").waitFor();
    await asked.getByText("left.md: the same lines were changed on both sides").waitFor();
    assertEquals(await asked.getByRole("button", { name: "Merge", exact: true }).isDisabled(), true);
    await press(asked, "Cancel");
  });
  await step("a choice by hand, with the keyboard alone", async () => {
    await page.getByRole("link", { name: "hand.md" }).focus();
    await page.keyboard.press("Enter");
    const sides = dialog(page, "hand.md");
    await sides.getByLabel("Both sides have changed it. It becomes").selectOption("content");
    const text = sides.getByRole("textbox", { name: "What it becomes" });
    await text.focus();
    await page.keyboard.press("ControlOrMeta+End");
    await page.keyboard.insertText("three\n");
    await page.keyboard.press("Escape");
    await sides.waitFor({ state: "detached" });
    await becomesFocused(page, page.getByRole("link", { name: "hand.md" }));
    await says(page, "edited by hand");
  });
  await step("what was written by hand is still there; the others get a side", async () => {
    await follow(page, "hand.md");
    assertEquals(await linesOf(page, "What it becomes"), ["one", "branch", "three", ""]);
    await press(dialog(page, "hand.md"), "Done");
    for (const [file, side] of [["left.md", "as in the branch"], ["right.md", "as in the folder"]] as const) {
      await follow(page, file);
      await dialog(page, file).getByLabel("Both sides have changed it. It becomes").selectOption(side);
      await press(dialog(page, file), "Done");
    }
  });
  await step(
    "a file that has changed since then is not written over: its choice is asked for again",
    async () => {
      await files.overwrite("notes/left.md", "one\nunseen\n");
      await press(page, "Merge …");
      await asked.getByText("There are changes since you have looked at the conflicts.").waitFor();
      await press(asked, "Cancel");
      await press(page, "Refresh");
      await page.getByRole("row", { name: "left.md" }).getByText("conflict", { exact: true }).waitFor();
      await page.getByRole("row", { name: "hand.md" }).getByText("edited by hand").waitFor();
    },
  );
  await step("only the chosen files are merged, and the branch stays open", async () => {
    await page.getByRole("checkbox", { name: "Choose hand.md" }).click();
    await page.getByRole("checkbox", { name: "Choose right.md" }).click();
    await press(page, "Merge these …");
    await asked.getByText("1 file is merged from both sides, or as edited here").waitFor();
    await press(asked, "Merge");
    await says(page, "Merged 1 file.");
    assertEquals((await files.read("notes/hand.md")).content, "one\nbranch\nthree\n");
    assertEquals((await files.read("notes/right.md")).content, "one\nfolder\n");
    assertEquals((await files.read("notes/left.md")).content, "one\nunseen\n");
    await page.getByRole("row", { name: "right.md" }).waitFor({ state: "detached" });
    assertEquals(await rowsOf(page, CHANGES), ["left.md modified conflict 2, folder 3"]);
  });
  await step(
    "an update brings the folder's changes into the branch; all conflicts may take one side",
    async () => {
      await files.write("notes/later.md", "later\n");
      await press(page, "Update …");
      const update = dialog(page, "Update try-1?");
      await update.getByText("1 file is in conflict, and not decided").waitFor();
      await update.getByLabel("Other files in conflict").selectOption("current");
      await update.getByText("files are written to the branch").waitFor();
      await press(update, "Update");
      await says(page, /^Updated \d files?\.$/);
      assertEquals((await files.read(".branches/try-1/left.md")).content, "one\nunseen\n");
      assertEquals((await files.read(".branches/try-1/later.md")).content, "later\n");
      await says(page, "Nothing has changed here yet.");
    },
  );
});

test("the page of branches: what waits, filtered by state, and many closed at once", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  const branches = new Branches(files);
  await files.write("a.md", "a\n");
  for (const name of ["one", "two", "three", "four"]) {
    await branches.create(name, { title: `Title of ${name}` });
  }
  await files.overwrite(".branches/two/a.md", "branch\n");
  await files.overwrite("a.md", "folder\n");
  await branches.change("two", { state: "ready" });
  await branches.merge("one");
  const table = page.getByRole("table", { name: "Branches, newest first" });
  await open("branches");

  await step("each shows its state, how much it changes and its conflicts, the newest first", async () => {
    await table.getByRole("row", { name: "two" }).getByText("1 conflict").waitFor();
    assertEquals(await table.locator("tbody td.name a").allTextContents(), ["four", "three", "two", "one"]);
    assertEquals(await table.locator("tbody .tag:not(.danger)").allTextContents(), [
      "open",
      "open",
      "ready",
      "merged",
    ]);
    await table.getByText("Title of two").waitFor();
  });
  await step("only those in a state", async () => {
    await page.getByLabel("State").selectOption("ready");
    await table.getByRole("link", { name: "three" }).waitFor({ state: "detached" });
    await table.getByRole("link", { name: "two" }).waitFor();
    assertEquals(await table.locator("tbody td.name a").allTextContents(), ["two"]);
    await page.getByLabel("State").selectOption("all");
    await table.getByRole("link", { name: "three" }).waitFor();
  });
  await step("with the keyboard, many are chosen and closed; a merged one is not among them", async () => {
    await table.getByRole("link", { name: "four" }).focus();
    await page.keyboard.press("ControlOrMeta+a");
    await says(page, "3 items chosen");
    await press(page, "Close …");
    const asked = dialog(page, "Close 3 branches?");
    await press(asked, "Close branches");
    await says(page, "Closed: 3 branches.");
    await page.getByText("items chosen").waitFor({ state: "detached" });
    assertEquals(
      (await branches.list()).branches.map(({ name, state }) => `${name} ${state}`),
      ["four closed", "three closed", "two closed", "one merged"],
    );
  });
});

test("every view of branches: no grave finding of axe, and nothing wider than a phone", async (visit) => {
  const { page, part, open, account: { files } } = visit;
  const branches = new Branches(files);
  const name = "a-rather-long-name-of-a-branch-that-somebody-gave-it";
  await files.write("notes/plan for the next quarter.md", "one\n");
  await files.write("notes/other.md", "one\n");
  await branches.create(name, { directory: "notes", title: "A title that says what the branch is for" });
  await branches.create("merged", { directory: "notes" });
  await files.overwrite(".branches/merged/other.md", "merged\n");
  await branches.merge("merged");
  await files.overwrite(`.branches/${name}/plan for the next quarter.md`, "branch\n");
  await files.overwrite("notes/plan for the next quarter.md", "folder\n");
  const file = encodeURIComponent("plan for the next quarter.md");
  const by = "Both sides have changed it. It becomes";
  const views: Readonly<Record<string, () => Promise<void>>> = {
    "the page of branches": async () => {
      await open("branches");
      await page.getByRole("checkbox", { name: "Choose all unfinished branches" }).click();
      await says(page, "1 conflict");
    },
    "a new branch": async () => {
      await open("branches");
      await press(page, "New branch");
      await dialog(page, "New branch").waitFor();
    },
    "a branch": async () => {
      await open(`branch/${name}`);
      await page.getByRole("table", { name: CHANGES }).waitFor();
    },
    "a conflict, edited by hand": async () => {
      await open(`branch/${name}?file=${file}`);
      await dialog(page, "plan for the next quarter.md").getByLabel(by).selectOption("content");
      await page.getByRole("textbox", { name: "What it becomes" }).waitFor();
    },
    "the plan of a merge": async () => {
      await open(`branch/${name}`);
      await press(page, "Merge …");
      await dialog(page, `Merge ${name}?`).getByText("in conflict, and not decided").waitFor();
    },
    "a key": async () => {
      await open(`branch/${name}`);
      await press(page, "Key …");
      await dialog(page, `A key for ${name}`).waitFor();
    },
    "a merged branch": async () => {
      await open("branch/merged");
      await page.getByRole("button", { name: /^Undo run / }).waitFor();
    },
  };
  for (const [view, show] of Object.entries(views)) {
    await part(view, async () => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto("about:blank");
        await show();
        assertEquals(await graveFindings(page), []);
        const size = page.viewportSize();
        await page.setViewportSize(PHONE);
        assertEquals(await overflow(page), [], "wider than a phone");
        if (size !== null) await page.setViewportSize(size);
      }
    });
  }
});

/** The texts of the rows of a table, without their controls. */
async function rowsOf(page: Page, name: string): Promise<string[]> {
  const rows = page.getByRole("table", { name }).locator("tbody tr");
  await rows.first().waitFor();
  const texts = await rows.evaluateAll((rows) =>
    rows.map((row) =>
      [...row.querySelectorAll("td:not(.pick)")].map(({ textContent }) => textContent).join(" ")
    )
  );
  return texts.map((text) => text.replaceAll(/\s+/g, " ").trim());
}

/** The lines of one side of a comparison. */
async function linesOf(page: Page, label: string): Promise<string[]> {
  const side = page.getByRole("textbox", { name: label });
  await side.waitFor();
  return await side.locator(".cm-line").allTextContents();
}

/** The elements that make the page scroll sideways. */
async function overflow(page: Page): Promise<string[]> {
  return await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return [...document.querySelectorAll("*")].filter((element) =>
      element.getBoundingClientRect().right > clientWidth + 1
    ).map((element) => `${element.tagName}.${element.className}`);
  });
}
