/** The people of a project in its settings: invited, accepted, given another role, removed, and made its owner. */
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { browserSuite, SESSION_KEY, type Visit } from "../support/browser/browser.ts";
import { Account } from "../support/client/accounts.ts";
import { newPerson, type Person } from "../support/browser/person.ts";
import { dialog, follow, press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

function tokenOf(session: string): string {
  return z.looseObject({ access_token: z.string() }).parse(JSON.parse(session)).access_token;
}

/** A tab of another person, at the start page of the console. */
async function tabOf({ context, service }: Visit, person: Person) {
  const { supabaseUrl } = service.stack;
  const other = await context.browser()?.newContext({
    reducedMotion: "reduce",
    storageState: {
      cookies: [],
      origins: [{ origin: supabaseUrl, localStorage: [{ name: SESSION_KEY, value: person.session }] }],
    },
  });
  const page = await other?.newPage();
  if (page === undefined) throw new Error("the browser has ended");
  await page.goto(`${supabaseUrl}/console/`);
  return page;
}

test("members: an invitation is seen by the person it names, who accepts it, works with that role, and leaves", async (visit) => {
  const { page, step, open, service, account } = visit;
  const { files, email: owner, projectId, session } = account;
  await files.write("plan.md", "# Plan\n");
  const guest = await newPerson(service);
  const people = page.getByRole("table", { name: "People in this project" });
  const row = people.getByRole("row").filter({ hasText: guest.email });
  await step("invited", async () => {
    await open("settings?tab=members");
    await people.getByRole("row", { name: new RegExp(`^${owner}.*Owner`) }).waitFor();
    await press(page, "Invite");
    const form = dialog(page, "Invite");
    await form.getByLabel("E-mail address").fill(guest.email.toUpperCase());
    await form.getByLabel("Role").selectOption("viewer");
    await press(form, "Invite");
    await row.getByText(/^invited, expires/).waitFor();
  });
  const theirs = await tabOf(visit, guest);
  await step("seen and accepted", async () => {
    await says(theirs, `${owner} invites you to`);
    await press(theirs, "Accept the invitation to My project");
    await theirs.getByRole("link", { name: "plan.md" }).waitFor();
    await open("settings?tab=members");
    await page.reload();
    assertEquals(await row.getByText("invited").count(), 0);
  });
  await step("a viewer sees the members, and manages none", async () => {
    await theirs.getByRole("link", { name: /^Usage of this project/ }).click();
    await follow(theirs, "Members");
    await theirs.getByRole("row", { name: new RegExp(`^${guest.email}`) }).waitFor();
    assertEquals(await theirs.getByRole("main").getByRole("button").allInnerTexts(), ["Leave"]);
    assertEquals(await theirs.getByRole("main").getByRole("combobox").count(), 0);
  });
  await step("given another role", async () => {
    await row.getByLabel(`Role of ${guest.email}`).selectOption("editor");
    await says(page, `${guest.email} is now editor.`);
  });
  await step("what an editor writes has their name in the activity and the history", async () => {
    await theirs.reload();
    await follow(theirs, "Files");
    await press(theirs, "New file");
    const form = dialog(theirs, "New file");
    await form.getByLabel("Path").fill("theirs.md");
    await press(form, "Create file");
    await open("activity");
    await page.getByRole("row").filter({ hasText: guest.email }).first().waitFor();
    await open("file/theirs.md?tab=history");
    await page.getByText(`written by ${guest.email}`).waitFor();
  });
  await step("their run and their branch have their name, and one's own have none", async () => {
    const [them, own] = [guest.session, session].map((text) =>
      new Account(service, tokenOf(text), projectId)
    );
    for (const [who, name] of [[them, "theirs"], [own, "mine"]] as const) {
      const headers = { "x-run-id": name };
      await who?.request("POST", "/files", { body: { path: `${name}-run.md`, content: "x" }, headers });
      await who?.request("POST", "/branches", { body: { name } });
      await who?.request("POST", `/branches/${name}/merge`, { body: { dryRun: false } });
    }
    const rowOf = (name: string) => page.getByRole("main").getByRole("row").filter({ hasText: name });
    for (const view of ["runs", "branches?state=merged"]) {
      await open(view);
      await rowOf("theirs").filter({ hasText: guest.email }).waitFor();
      await rowOf("mine").filter({ hasText: "Console" }).waitFor();
    }
    await open("run/theirs");
    await page.getByText(`by ${guest.email}`).waitFor();
    await open("run/mine");
    await page.getByText("in the console").waitFor();
    await open("branch/theirs");
    await page.getByText(`merged by ${guest.email}`).waitFor();
  });
  await step("made the owner", async () => {
    await open("settings?tab=danger");
    await press(page, "Transfer project");
    await press(dialog(page, "Transfer My project"), "Transfer project");
    await says(page, `${guest.email} has a project of the name My project. Rename this one first.`);
    await press(dialog(page, "Transfer My project"), "Cancel");
    await open("settings?tab=account");
    await page.getByLabel("Project name").fill("Research");
    await press(page, "Rename");
    await says(page, "The project was renamed.");
    await open("settings?tab=danger");
    await press(page, "Transfer project");
    await press(dialog(page, "Transfer Research"), "Transfer project");
    await says(page, `${guest.email} owns Research now.`);
    assertEquals(await page.getByRole("button", { name: "Delete project" }).count(), 0);
  });
  await step("left by the one who owned it", async () => {
    await open("settings?tab=members");
    await press(people, `Leave ${owner}`);
    await press(dialog(page, "Leave the project?"), "Leave");
    await says(page, "You left the project.");
  });
  await theirs.context().close();
});

test("members: an invitation that is withdrawn or declined is gone on both sides", async (visit) => {
  const { page, step, open, service } = visit;
  const guest = await newPerson(service);
  const people = page.getByRole("table", { name: "People in this project" });
  const invite = async () => {
    await press(page, "Invite");
    const form = dialog(page, "Invite");
    await form.getByLabel("E-mail address").fill(guest.email);
    await press(form, "Invite");
    await people.getByText(guest.email).waitFor();
  };
  await open("settings?tab=members");
  await step("withdrawn", async () => {
    await invite();
    await press(people, `Withdraw ${guest.email}`);
    await press(dialog(page, /^Withdraw the invitation/), "Withdraw");
    await people.getByText(guest.email).waitFor({ state: "detached" });
  });
  await step("declined", async () => {
    await invite();
    const theirs = await tabOf(visit, guest);
    await press(theirs, "Decline the invitation to My project");
    await says(theirs, "You declined the invitation to My project.");
    await page.reload();
    await people.getByRole("row").nth(1).waitFor();
    assertEquals(await people.getByText(guest.email).count(), 0);
    await theirs.context().close();
  });
});

/** What somebody who may only read cannot do. */
const CHANGES =
  /^(Close|Create|Delete|Edit|Erase|Invite|Key|Mark|Merge|Move|New|Preview|Remove|Rename|Restore|Revoke|Save|Transfer|Undo|Update|Upload|Withdraw)/;

test("members: a viewer's console has no control that would be refused", async (visit) => {
  const { part, service, account: { files, projectId, session } } = visit;
  const guest = await newPerson(service);
  const admin = new Account(service, tokenOf(session), projectId);
  await admin.request("POST", "/project/members", { body: { email: guest.email, role: "viewer" } });
  await files.request("POST", "/files", {
    body: { path: "notes/plan.md", content: "# Plan\n" },
    headers: { "x-run-id": "nightly-42" },
  });
  await files.append("notes/plan.md", "More.\n");
  await files.write("gone.md", "");
  await files.remove("gone.md");
  await files.request("POST", "/links", { body: { path: "notes/plan.md", for: "read" } });
  await files.request("POST", "/branches", { body: { name: "try", directory: "notes" } });
  await files.write(".branches/try/plan.md", "# Another\n");
  const page = await tabOf(visit, guest);
  await press(page, "Accept the invitation to My project");
  await page.getByRole("link", { name: "notes", exact: false }).first().waitFor();
  const controls = page.getByRole("main").locator("button, .button, [role=menuitem]");
  const refused = async () =>
    (await controls.evaluateAll((all) =>
      all.map((one) => one.getAttribute("aria-label") ?? one.textContent ?? "")
    ))
      .filter((name) => CHANGES.test(name.trim()));
  const views: Readonly<Record<string, string>> = {
    "files/notes": "plan.md",
    "file/notes/plan.md": "History",
    "file/notes/plan.md?tab=history": "Version 1",
    "file/notes/plan.md?tab=edit": "History",
    "file/notes/plan.md?version=1": "Version 1 of 2",
    "file/notes/none.md": "There is no file at this path.",
    deleted: "gone.md",
    links: "plan.md",
    branches: "try",
    "branch/try": "1 modified",
    "run/nightly-42": "plan.md",
    settings: "Usage now",
    "settings?tab=members": guest.email,
    "settings?tab=account": "Project",
    "settings?tab=danger": "Danger zone",
  };
  for (const [place, text] of Object.entries(views)) {
    await part(place, async () => {
      await page.goto(`${service.stack.supabaseUrl}/console/#/p/${projectId}/${place}`);
      await page.getByRole("main").getByText(text).filter({ visible: true }).first().waitFor();
      const allowed = place.includes("danger") ? ["Delete account"] : [];
      assertEquals(await refused(), allowed);
      for (const menu of await page.getByRole("main").getByRole("button", { name: /^Actions for / }).all()) {
        await menu.click();
        assertEquals(await refused(), allowed);
        await page.keyboard.press("Escape");
      }
    });
  }
  await page.context().close();
});
