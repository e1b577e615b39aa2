/** A lost connection and a lost session: the console reports both, and neither loses a person's work. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { browserSuite, SESSION_KEY } from "../support/browser/browser.ts";
import { follow, isGone, press, says, shownText, typeAtEnd } from "../support/browser/page_actions.ts";

const LOST = "The connection is lost. Reconnecting …";

const { test } = await browserSuite();

test("connection: the page reports its loss at once, and views load by themselves when it works again", async (visit) => {
  const { page, context, open, account: { files } } = visit;
  await files.write("a.txt", "a\n");
  await open("files");
  await page.getByRole("link", { name: "a.txt" }).waitFor();
  await context.setOffline(true);
  await says(page, LOST);
  await follow(page, "Activity");
  await says(page, "The service cannot be reached. This view reloads when the connection is back.");
  await context.setOffline(false);
  await page.getByRole("table", { name: "Latest writes" }).getByRole("link", { name: "a.txt" }).waitFor();
  await isGone(page, LOST);
});

test("connection: a service that does not answer is noticed by the request, and its return, too", async (visit) => {
  const { page, context, open, service } = visit;
  await open("files");
  await says(page, "There are no files yet.");
  const everything = `${service.baseUrl}/**`;
  await context.route(everything, (route) => route.abort("connectionrefused"));
  await follow(page, "Deleted files");
  await says(page, LOST);
  await context.unroute(everything);
  await says(page, "Nothing is deleted.");
  await isGone(page, LOST);
});

test("connection: a save that did not arrive keeps the text, and is saved once when it can be", async (visit) => {
  const { page, context, open, account: { files } } = visit;
  await files.write("a.txt", "a\n");
  await open("file/a.txt?tab=edit");
  await typeAtEnd(page, "a.txt", "b\n");
  await context.setOffline(true);
  await press(page, "Save");
  await page.getByRole("alert").getByText("The service cannot be reached.").waitFor();
  await context.setOffline(false);
  await isGone(page, LOST);
  assertEquals(await shownText(page, "Edit a.txt"), "a\nb\n");
  await press(page, "Save");
  await says(page, "Saved as version 2.");
  assertEquals((await files.read("a.txt")).content, "a\nb\n");
});

test("session: after it has ended, signing in leads back to the same place and the same unsaved text", async (visit) => {
  const { page, open, account } = visit;
  await account.files.write("notes/plan.md", "a\n");
  await open("file/notes/plan.md?tab=edit");
  await typeAtEnd(page, "notes/plan.md", "b\n");
  const place = page.url();
  await loseSession(page);
  await press(page, "Save");
  await says(page, "Your session has expired. Sign in to continue where you left off.");
  assertEquals(page.url(), place);
  await signIn(page, account);
  await says(page, "Unsaved changes.");
  assertEquals([page.url(), await shownText(page, "Edit notes/plan.md")], [place, "a\nb\n"]);
  await press(page, "Save");
  await says(page, "Saved as version 2.");
});

test("session: an address that was opened signed out is where signing in leads", async (visit) => {
  const { page, open, account } = visit;
  await account.files.write("notes/plan.md", "a\n");
  await open("file/notes/plan.md?tab=history");
  await signIn(page, account);
  await page.getByRole("list", { name: "Versions of notes/plan.md" }).waitFor();
  assertStringIncludes(page.url(), "/file/notes/plan.md?tab=history");
}, { isSignedOut: true });

test("session: signing out leaves nothing of the account behind, for another one to see", async (visit) => {
  const { page, open, account } = visit;
  await account.files.write("secret plan.md", "a\n");
  await open("files");
  await page.getByRole("link", { name: "secret plan.md" }).waitFor();
  await press(page, "Sign out");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert(!(await page.content()).includes("secret plan"));
  assertEquals(await page.evaluate((key) => localStorage.getItem(key), SESSION_KEY), null);
  await press(page, "Create an account");
  await page.getByLabel("E-mail").fill(`other-${crypto.randomUUID()}@example.com`);
  await page.getByLabel("Password").fill("correct horse battery staple");
  await press(page, "Create account");
  await page.getByRole("heading", { name: "No such project" }).waitFor();
  await press(page, "Open my project");
  await says(page, "There are no files yet.");
});

/** Simulates a week of absence: the access token has expired, and Auth does not know the refresh token. */
async function loseSession(page: Page): Promise<void> {
  await page.evaluate((key) => {
    const session = JSON.parse(localStorage.getItem(key) ?? "{}");
    const old = { ...session, expires_at: 1, refresh_token: "gone", access_token: "gone" };
    localStorage.setItem(key, JSON.stringify(old));
  }, SESSION_KEY);
}

async function signIn(
  page: Page,
  { email, password }: { readonly email: string; readonly password: string },
) {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await press(page, "Sign in");
}
