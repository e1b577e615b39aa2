/** Every view and dialog: no grave finding of axe in light and dark themes, and no horizontal scrolling on a phone. */
import { assertEquals } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { graveFindings } from "../support/browser/axe.ts";
import { brokenWords } from "../support/browser/broken_words.ts";
import { browserSuite, type Visit } from "../support/browser/browser.ts";
import { App } from "../support/client/oauth.ts";
import { choose, dialog, press, says, typeAtEnd } from "../support/browser/page_actions.ts";

const DESK = { width: 1280, height: 800 };
const TABLET = { width: 800, height: 1100 };
const PHONE = { width: 390, height: 844 };
/** The size of a desktop window at 200 % zoom: half as many pixels in each direction. */
const ZOOMED = { width: 640, height: 400 };

/** Opens a view and returns a locator of it; the view is ready once the locator is visible. */
type View = (visit: Visit) => Promise<Locator>;

const FILE = "notes/a rather long folder name/plan for the next quarter.md";
const ENCODED = FILE.split("/").map(encodeURIComponent).join("/");
const RUN = "nightly-2026-11-23-run-42";
const DOCUMENT = `---
title: A document
---
# A document

Some **words**, a [link](a.md), \`code\`, a note[^1], <kbd>HTML</kbd>, ![drawing](drawing.svg) and ![web](https://example.com/a.png).

- [x] done
- [ ] open

> quoted

| a long head of a column | another long head of a column | ${"wide ".repeat(40)} |
| --- | ---: | :---: |
| 1 | 2 | 3 |

\`\`\`ts
/** All colours. */
export class Shown<Kind> { static readonly of: Kind = new Shown(/a+/, "text", 42, null).name; }
\`\`\`

\`\`\`html
<a href="#" class='b'>text</a> <!-- said -->
\`\`\`

\`\`\`sh
${"a long command ".repeat(20)}
\`\`\`

[^1]: The note.
`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="20"/>`;

const NO_MAKER = { projectMakers: "nobody", mayCreateProjects: false, reason: "operator_only" };

const VIEWS: Readonly<Record<string, View>> = {
  "an empty project": at("files", (page) => page.getByText("There are no files yet.")),
  "a folder": async (visit) => {
    await fill(visit);
    return await at("files", (page) => page.getByRole("link", { name: "drawing.svg" }))(visit);
  },
  "a selection": async ({ page, open }) => {
    await open("files");
    await page.getByRole("checkbox", { name: "Select all files and folders" }).click();
    return page.getByText("selected");
  },
  "the menu of a folder": async ({ page, open }) => {
    await open("files");
    await press(page, "Actions for notes");
    return page.getByRole("menuitem", { name: "Delete …" });
  },
  "the renaming of a folder": inMenu("Rename …", "Rename notes"),
  "the moving of a folder": inMenu("Move …", "Move notes"),
  "the deletion of a folder": async (visit) => {
    const asked = await inMenu("Delete …", "Delete notes?")(visit);
    return asked.getByText("1 file will be deleted");
  },
  "the choice of a time": inMenu("View at a past time …", "View notes at a past time"),
  "the moving of a selection, with a file in the way": async ({ page, open, account: { files } }) => {
    await files.write("data/drawing.svg", SVG);
    await open("files");
    await page.getByRole("checkbox", { name: "Select drawing.svg" }).click();
    await press(page, "Move …");
    const form = dialog(page, "Move 1 item");
    await form.getByLabel("To folder").fill("data");
    await press(form, "Move");
    return form.getByLabel("Overwrite them");
  },
  "a folder as it was": async (visit) => {
    await visit.open(`files/notes?at=${await momentOf(visit)}`);
    return visit.page.getByText("Restore this folder to this time");
  },
  "the restoring of a folder": async (visit) => {
    await visit.open(`files?at=${await momentOf(visit)}`);
    await press(visit.page, "Restore the project to this time …");
    return dialog(visit.page, "Restore the project?").getByText("created later");
  },
  "a file as it was": async (visit) => {
    await visit.open(`file/${ENCODED}?at=${await momentOf(visit)}`);
    return visit.page.getByLabel(`Content of ${FILE}`);
  },
  "the links of a file": async (visit) => {
    await visit.account.files.request("POST", "/links", { body: { path: FILE, for: "read" } });
    await visit.open(`file/${ENCODED}`);
    await choose(visit.page, "Links …");
    return dialog(visit.page, "Links to this file").getByText("read, expires");
  },
  "a new link": async (visit) => {
    await visit.open(`file/${ENCODED}`);
    await choose(visit.page, "Links …");
    await press(dialog(visit.page, "Links to this file"), "Create link");
    return visit.page.getByLabel("Address");
  },
  "the links": at(
    "links",
    (page) => page.getByRole("table", { name: "Active links, newest first" }),
  ),
  "the new link dialog": inDialog("links", "New link", "New link"),
  "a comparison of two files": at(
    `file/${ENCODED}?tab=compare&toPath=data%2Frun.json`,
    (page) => page.getByRole("region", { name: /^Changes/ }),
  ),
  "the history of a renamed file": async (visit) => {
    await visit.account.files.write("a name that was given before the plan.md", "");
    await visit.account.files.put("move", "a name that was given before the plan.md", {
      destination: "renamed.md",
    });
    await visit.open("file/renamed.md?tab=history");
    return visit.page.getByRole("region", { name: /^Before the move/ }).getByRole("list");
  },
  "chosen deleted files": async ({ page, open }) => {
    await open("deleted");
    await page.getByRole("checkbox", { name: "Select all deleted files" }).click();
    return page.getByText("selected");
  },
  "the command palette": async ({ page, open }) => {
    await open(`file/${ENCODED}`);
    await page.getByRole("button", { name: /^Actions for plan/ }).waitFor();
    await press(page, "Commands");
    return page.getByRole("option", { name: "Erase for good …" });
  },
  "what the command palette finds": async ({ page, open }) => {
    await open("files");
    await page.getByRole("button", { name: "Upload files" }).waitFor();
    await press(page, "Commands");
    await page.getByRole("combobox", { name: "Find files" }).fill("n");
    await page.getByRole("option", { name: RUN }).waitFor();
    return page.getByRole("option", { name: FILE });
  },
  "the shortcuts": async ({ page, open }) => {
    await open("files");
    await page.getByRole("link", { name: "drawing.svg" }).focus();
    await page.keyboard.press("?");
    return dialog(page, "Keyboard shortcuts");
  },
  "the new file dialog": inDialog("files", "New file", "New file"),
  "the new project dialog": async (visit) => {
    const form = await inDialog("files", "New project", "New project")(visit);
    return form.getByLabel("Name");
  },
  "the new project dialog where the operator makes projects": async (visit) => {
    await answerOnce(visit, "account", NO_MAKER);
    const form = await inDialog("files", "New project", "New project")(visit);
    return form.getByText("Only the operator of this service can create projects");
  },
  "no project": async (visit) => {
    await answerOnce(visit, "projects", { projects: [], invitations: [] });
    // Read once to create no project, and once to explain it.
    for (const _ of [1, 2]) await answerOnce(visit, "account", NO_MAKER);
    await visit.page.goto(`${visit.service.stack.supabaseUrl}/console/`);
    return visit.page.getByText("Only the operator of this service can create projects");
  },
  "a file": at(`file/${ENCODED}`, (page) => page.getByLabel(`Content of ${FILE}`)),
  "the source of a file": at(`file/${ENCODED}?show=source`, (page) => page.getByText("Wrap lines")),
  "a line of a file": at(`file/${ENCODED}?line=30`, (page) => page.locator(".cm-shownLine")),
  "several lines of a file": at(`file/${ENCODED}?line=30-33`, (page) => page.locator(".cm-shownLine").nth(3)),
  "a document": async (visit) => {
    await visit.account.files.write("document.md", DOCUMENT);
    await visit.open("file/document.md");
    // Waits for one block of each language, so that the colours, which load separately, are checked, too.
    for (const language of ["ts", "html"]) {
      await visit.page.getByRole("region", { name: `Code in ${language}` }).locator("span").first().waitFor();
    }
    return visit.page.getByRole("img", { name: "drawing" });
  },
  "a table": async (visit) => {
    const cells = Array.from({ length: 12 }, (_, index) => `${"word ".repeat(index)}${index}`).join(",");
    await visit.account.files.write("table.csv", `${cells}\n`.repeat(20));
    await visit.open("file/table.csv");
    return visit.page.getByText("19 rows");
  },
  "a row of a table": inDialog("file/table.csv", "Show row 3", "Row 3"),
  "a tree": at("file/data/run.json", (page) => page.getByRole("tree")),
  "a value of a tree": async (visit) => {
    await visit.open("file/data/run.json");
    await visit.page.getByRole("treeitem", { name: "text" }).click();
    return dialog(visit.page, "$.b");
  },
  "a large text": async (visit) => {
    await visit.account.files.write("run.log", `${"a line of a log ".repeat(8)}\n`.repeat(10_000));
    await visit.open("file/run.log");
    return visit.page.getByText("Lines 9,501 to 10,000 of 10,000.");
  },
  "an old version": at(`file/${ENCODED}?version=1`, (page) => page.getByText("Restore this version")),
  "the move dialog": inFileMenu("Move or rename …", "Move or rename"),
  "a picture": async (visit) => {
    await visit.open("file/drawing.svg");
    await press(visit.page, "Show as picture");
    return visit.page.getByText("1200 × 20");
  },
  "a sound": async (visit) => {
    await visit.account.files.writeBytes("sound.mp3", new Uint8Array(1000));
    await visit.open("file/sound.mp3");
    return visit.page.getByLabel("Player of sound.mp3").or(visit.page.getByText("cannot play"));
  },
  "the editor": at(`file/${ENCODED}?tab=edit`, (page) => page.getByRole("textbox", { name: `Edit ${FILE}` })),
  "a history": at(`file/${ENCODED}?tab=history`, (page) => page.getByText("latest")),
  "a comparison": at(`file/${ENCODED}?tab=compare`, (page) => page.getByRole("region", { name: /^Changes/ })),
  "a comparison side by side": async (visit) => {
    await visit.open(`file/${ENCODED}?tab=compare`);
    await visit.page.getByLabel("Layout").selectOption("Side by side");
    return visit.page.getByLabel("Version 2", { exact: true });
  },
  "a conflict": conflict,
  "a newer version beside the editor": async ({ page, openFollowing, follows, account: { files } }) => {
    await files.write("both.md", "one\n");
    follows.length = 0;
    await openFollowing("file/both.md?tab=edit");
    await typeAtEnd(page, "both.md", "mine\n");
    await files.put("append", "both.md", { content: "theirs\n" }, { "x-actor": "planner/2.1" });
    return page.getByText("Version 2 was written by planner");
  },
  "a file that is followed": async (visit) => {
    await visit.account.files.write("followed.log", "a line of a log\n");
    await visit.open("file/followed.log?follow=true");
    return visit.page.getByRole("log");
  },
  "the menu of a file": async (visit) => {
    await visit.open(`file/${ENCODED}`);
    await press(visit.page, /^Actions for plan/);
    return visit.page.getByRole("menuitem", { name: "Erase for good …" });
  },
  "the copy dialog": inFileMenu("Copy …", "Copy file"),
  "a row that has just changed": async ({ page, openFollowing, follows, account: { files } }) => {
    follows.length = 0;
    await openFollowing("files");
    await page.getByRole("link", { name: "drawing.svg" }).waitFor();
    await files.append("data/run.json", "\n");
    await files.write("changed.md", "x");
    return page.locator("tr.changed");
  },
  "a file that is not there": at(
    "file/nowhere.md",
    (page) => page.getByRole("button", { name: "Create it here" }),
  ),
  "a page that is not there": at("nope", (page) => page.getByRole("heading", { name: "No such page" })),
  "the deleted files": at("deleted", (page) => page.getByRole("button", { name: "Restore old.md" })),
  "the activity": at("activity", (page) => page.getByRole("table", { name: "Latest writes" })),
  "the activity with filters": at(
    "activity?actor=nobody&directory=notes",
    (page) => page.getByText("No matching writes."),
  ),
  "the runs": at("runs", (page) => page.getByRole("table", { name: "Runs" })),
  "a run": at(`run/${RUN}`, (page) => page.getByRole("list", { name: `Files of ${RUN}` })),
  "the undo of a run": async (visit) => {
    const undo = await inDialog(`run/${RUN}`, "Undo …", `Undo run ${RUN}?`)(visit);
    return undo.getByText("version 1");
  },
  "the keys": at("keys", (page) => page.getByRole("table", { name: "API keys, newest first" })),
  "the new key dialog": inDialog("keys", "New key", "New API key"),
  "the rotation dialog": inDialog("keys", "Rotate test", "Rotate test"),
  "the revocation dialog": inDialog("keys", "Revoke test", "Revoke test?"),
  "a new key": async ({ page, open }) => {
    await open("keys");
    await press(page, "New key");
    await press(dialog(page, "New API key"), "Create key");
    return dialog(page, "Your new key");
  },
  "connecting": at("connect", (page) => page.getByRole("heading", { name: "Client" })),
  "connecting with a new key": async ({ page, open }) => {
    await open("connect");
    await press(page, "Create key");
    await press(page, "Codex");
    return page.getByText(/^Waiting for the first call/);
  },
  "a client that has called": async ({ page, open, service }) => {
    await open("connect");
    await press(page, "Create key");
    const key = await page.getByRole("region", { name: "The key", exact: true }).innerText();
    await fetch(`${service.baseUrl}/files`, { headers: { "x-api-key": key } });
    return page.getByText("is connected");
  },
  "connecting an app that signs in": async ({ page, open }) => {
    await open("connect");
    await press(page, "claude.ai");
    return page.getByText(/^Waiting for the first call/);
  },
  "a request of an app": async (visit) => {
    await ask(visit);
    await visit.page.getByLabel("Only in this folder").fill("notes/a rather long folder name");
    return visit.page.getByRole("button", { name: "Allow" });
  },
  "a request of an app to a person without a project": async (visit) => {
    await answerOnce(visit, "projects", { projects: [], invitations: [] });
    for (const _ of [1, 2]) await answerOnce(visit, "account", NO_MAKER);
    await ask(visit);
    return visit.page.getByText("Only the operator of this service can create projects");
  },
  "an answer to an app on this device": async (visit) => {
    await ask(visit);
    await press(visit.page, "Allow");
    return visit.page.getByText("Continue in the app");
  },
  "a request that is no more": async ({ page, service }) => {
    await page.goto(`${service.stack.supabaseUrl}/console/authorize?request=none`);
    return page.getByRole("alert");
  },
  "the connected apps": at("keys", (page) => page.getByRole("table", { name: "Connected apps" })),
  "the revocation of an app": inDialog("keys", "Revoke A planner with a long name", /^Revoke A planner/),
  "a search": at("search?q=item", (page) => page.getByRole("main").getByRole("link", { name: FILE })),
  "a search without a match": at("search?q=nowhere", (page) => page.getByText("Nothing matches")),
  "the settings": at("settings", (page) => page.getByRole("table", { name: "Usage by key" })),
  "the project and account": at("settings?tab=account", (page) => page.getByText("1 of 20")),
  "the danger zone": at(
    "settings?tab=danger",
    (page) => page.getByRole("button", { name: "Delete account" }),
  ),
  "the usage by day": async ({ page, open }) => {
    await open("settings");
    await page.getByText("By day, as a table").click();
    return page.getByRole("table", { name: "Usage by day" });
  },
  "what a rule would let go": async ({ page, open }) => {
    await open("settings?tab=retention");
    await page.getByLabel("Versions to keep").fill("1");
    await press(page, "Preview deletions");
    return page.getByText(/would be deleted for good/);
  },
  "the erasure of a file": inFileMenu("Erase for good …", /^Erase .* for good/),
  "the erasure of a version": async (visit) => {
    // "55 minutes ago" needs more room than "just now".
    await visit.service.sql(
      "update filestore.file_versions set created_at = now() - interval '55 minutes' where project_id = $1",
      [visit.account.projectId],
    );
    await visit.open(`file/${ENCODED}?tab=history`);
    await visit.page.getByLabel("Compare version 1", { exact: true }).check();
    await press(visit.page, "Erase content …");
    return dialog(visit.page, "Erase the content of version 1 for good?");
  },
  "a lost connection": async ({ page, context, open }) => {
    await open("activity");
    await page.getByRole("table", { name: "Latest writes" }).waitFor();
    await context.setOffline(true);
    return page.getByText("The connection is lost.");
  },
};

const { test } = await browserSuite();

test("views: accessible in light and dark, and as wide as a window, without broken words", async (visit) => {
  for (const [name, show] of Object.entries(VIEWS)) {
    await visit.part(name, async () => {
      await visit.page.setViewportSize(DESK);
      await visit.page.goto("about:blank");
      await examine(visit.page, await show(visit));
    });
  }
});

test("views: the menu of a phone opens, leads on and closes", async (visit) => {
  const { page, open } = visit;
  await open("files");
  await press(page, "Menu");
  const link = page.getByRole("link", { name: "API keys" });
  await examine(page, link, PHONE);
  await link.click();
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await link.waitFor({ state: "hidden" });
}, { width: PHONE.width });

test(
  "views: signing in is accessible in light and dark, and as wide as a window, without broken words",
  async ({ page, part, service }) => {
    for (const name of ["Sign in", "Create an account", "Sign in by e-mail", "Reset your password"]) {
      await part(name, async () => {
        await page.setViewportSize(DESK);
        await page.goto(`${service.stack.supabaseUrl}/console/`);
        const link = {
          "Sign in by e-mail": "Send me a sign-in link",
          "Reset your password": "Forgot your password?",
        }[name];
        if (name !== "Sign in") await press(page, link ?? name);
        await examine(page, page.getByRole("heading", { name }));
      });
    }
  },
  { isSignedOut: true },
);

let examined = 0;

async function examine(page: Page, shown: Locator, desk = DESK): Promise<void> {
  await shown.first().waitFor();
  await page.setViewportSize(desk);
  await page.emulateMedia({ colorScheme: "light" });
  assertEquals(await graveFindings(page), []);
  // The themes differ in their colours alone.
  await page.emulateMedia({ colorScheme: "dark" });
  assertEquals(await graveFindings(page, ["color-contrast"]), []);
  // For the sizes between a desk and a phone every third view is enough.
  const between = examined++ % 3 === 0 ? [TABLET, ZOOMED] : [];
  for (const size of [desk, ...between, PHONE]) {
    await page.setViewportSize(size);
    const width = await page.evaluate(() =>
      Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)
    );
    assertEquals(width, size.width, "the page is as wide as the window");
    assertEquals(await brokenWords(page), [], `words at ${size.width} pixels`);
  }
}

/** Replaces these fields in the next answer of this route. */
async function answerOnce({ page }: Visit, route: string, fields: object): Promise<void> {
  await page.route(`**/functions/v1/api/${route}`, async (asked) => {
    const response = await asked.fetch();
    const { data, ...envelope } = await response.json();
    await asked.fulfill({ response, json: { ...envelope, data: { ...data, ...fields } } });
  }, { times: 1 });
}

function at(place: string, there: (page: Page) => Locator): View {
  return async ({ page, open }) => {
    await open(place);
    return there(page);
  };
}

function inDialog(place: string, button: string, title: string | RegExp): View {
  return async ({ page, open }) => {
    await open(place);
    await press(page, button);
    return dialog(page, title);
  };
}

function inFileMenu(action: string, title: string | RegExp): View {
  return async ({ page, open }) => {
    await open(`file/${ENCODED}`);
    await choose(page, action);
    return dialog(page, title);
  };
}

function inMenu(action: string, title: string): View {
  return async ({ page, open }) => {
    await open("files");
    await press(page, "Actions for notes");
    await page.getByRole("menuitem", { name: action }).click();
    return dialog(page, title);
  };
}

/** Returns the time at which the first version of the plan was written. */
async function momentOf({ account: { files } }: Visit): Promise<string> {
  return encodeURIComponent((await files.record(FILE)).createdAt);
}

/** Opens the request of an app whose answer the browser gives to another program. */
async function ask({ page, service }: Visit): Promise<void> {
  const redirect_uri = "planner://callback";
  const metadata = { client_name: "A planner with a long name", redirect_uris: [redirect_uri] };
  const app = await App.register(service, metadata);
  const { headers } = await app.authorize({ redirect_uri });
  await page.goto(headers.get("location") ?? "");
}

async function conflict({ page, open, account: { files } }: Visit): Promise<Locator> {
  await files.write("shared.md", "one\n");
  await open("file/shared.md?tab=edit");
  await typeAtEnd(page, "shared.md", "mine\n");
  await files.overwrite("shared.md", "theirs\n");
  await press(page, "Save");
  await says(page, "The file has changed");
  return page.getByLabel("Your text", { exact: true });
}

async function fill({ account: { files } }: Visit): Promise<void> {
  const lines = Array.from({ length: 60 }, (_, index) => `- item ${index} of **the plan**, with \`code\``);
  await files.write(FILE, `# Plan\n${lines.join("\n")}\n${"a long line ".repeat(60)}\n`);
  await files.put("edit", FILE, { oldString: "- item 30 of", newString: "- item thirty of" }, {
    "x-run-id": RUN,
    "x-actor": "planner/2.1 on a machine with a long name",
    "x-change-note": encodeURIComponent("the thirtieth item is written out, as are all round numbers"),
  });
  await files.write("drawing.svg", SVG);
  await files.write("data/run.json", `{"a": [1, 2, true], "b": "text"}\n`);
  await files.write("old.md", "");
  await files.request("DELETE", "/files/old.md");
}
