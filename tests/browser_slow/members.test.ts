/** The people of a project in its settings: invited, accepted, given another role, removed, and made its owner. */
import { assertEquals } from "@std/assert";
import { browserSuite, SESSION_KEY, type Visit } from "../support/browser/browser.ts";
import { newPerson, type Person } from "../support/browser/person.ts";
import { dialog, follow, press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

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
  const { page, step, open, service, account: { files, email: owner } } = visit;
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
