/** Invalid input in every field of every form: the service's own reason appears beside the field. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Locator, Page } from "playwright-core";
import { browserSuite, type Visit } from "../support/browser/browser.ts";
import { descriptionOf, type Input, refusalOf, tryInput } from "../support/browser/form_input.ts";
import { choose, dialog, press } from "../support/browser/page_actions.ts";

interface Case extends Input {
  readonly what: string;
  /** Opens the form and returns the element that contains it. */
  readonly open: (visit: Visit) => Promise<Page | Locator>;
}

async function newProject({ page, open }: Visit): Promise<Locator> {
  await open("files");
  await press(page, "New project");
  return dialog(page, "New project");
}

async function newFile({ page, open, account }: Visit): Promise<Locator> {
  await account.files.write("there.md", "");
  await open("files");
  await press(page, "New file");
  return dialog(page, "New file");
}

async function move({ page, open, account }: Visit): Promise<Locator> {
  await account.files.write("a.md", "");
  await account.files.write("there.md", "");
  await open("file/a.md");
  await choose(page, "Move or rename …");
  return dialog(page, "Move or rename");
}

async function newKey({ page, open }: Visit): Promise<Locator> {
  await open("keys");
  await press(page, "New key");
  return dialog(page, "New API key");
}

async function settings({ page, open }: Visit): Promise<Page> {
  await open("settings?tab=account");
  return page;
}

const NEW_PROJECT = { open: newProject, field: "Name", button: "Create project" };
const NEW_FILE = { open: newFile, field: "Path", button: "Create file" };
const MOVE = { open: move, field: "New path", button: "Move" };
const NEW_KEY = { open: newKey, button: "Create key" };

const CASES: readonly Case[] = [
  { what: "a project without a name", ...NEW_PROJECT, value: "" },
  { what: "a project with a taken name", ...NEW_PROJECT, value: "My project" },
  {
    what: "a project renamed to nothing",
    open: settings,
    field: "Project name",
    value: " ",
    button: "Rename",
  },
  { what: "a short password", open: settings, field: "New password", value: "x", button: "Change password" },
  { what: "a file that is there", ...NEW_FILE, value: "there.md" },
  { what: "a move with no path", ...MOVE, value: "" },
  { what: "a move to where a file is", ...MOVE, value: "there.md" },
  { what: "a key with a bad prefix", ...NEW_KEY, field: "Path prefix", value: "../x" },
  { what: "a key that has expired", ...NEW_KEY, field: "Expires", value: "2001-01-01T00:00" },
];

const SIGNED_OUT: readonly (Omit<Case, "open"> & { readonly form?: string })[] = [
  {
    what: "signing in without an address",
    field: "E-mail",
    value: "",
    button: "Sign in",
    others: { Password: "x" },
  },
  {
    what: "signing up without an @",
    form: "Create an account",
    field: "E-mail",
    value: "nobody",
    button: "Create account",
    others: { Password: "long enough to be one" },
  },
  {
    what: "a sign-in link to nowhere",
    form: "Send me a sign-in link",
    field: "E-mail",
    value: "nobody",
    button: "Send link",
  },
];

const { test } = await browserSuite();

test("forms: each refuses bad input beside the field, in the service's words", async (visit) => {
  for (const { what, open, ...input } of CASES) {
    await visit.part(what, async () => {
      await visit.page.goto("about:blank");
      await tryInput(visit.page, await open(visit), input);
    });
  }
  await visit.part("a key without scopes", async () => {
    await visit.page.goto("about:blank");
    const form = await newKey(visit);
    await form.getByLabel("Read").uncheck();
    await form.getByLabel("Write").uncheck();
    const reason = await refusalOf(visit.page, () => press(form, "Create key"));
    assertStringIncludes(await descriptionOf(form.getByRole("group", { name: "Scopes" })), reason);
  });
});

test("forms: a search shows what is wrong with its folder and its names", async (visit) => {
  for (const [field, value] of [["Folder", "a//b"], ["File names", "{a"]] as const) {
    await visit.part(`${field}: ${value}`, async () => {
      await visit.page.goto("about:blank");
      await visit.open("search?q=plan");
      await visit.page.getByText("Nothing matches").waitFor();
      await tryInput(visit.page, visit.page.getByRole("main"), { field, value, button: "Apply" });
    });
  }
});

test("forms: signing in and up tell what is wrong beside the field", async (visit) => {
  const { page, part, service } = visit;
  for (const { what, form, ...input } of SIGNED_OUT) {
    await part(what, async () => {
      await page.goto("about:blank");
      await page.goto(`${service.stack.supabaseUrl}/console/`);
      if (form !== undefined) await press(page, form);
      await tryInput(page, page, input);
    });
  }
  await part("a wrong password is not told from an unknown address", async () => {
    const texts: string[] = [];
    for (const email of [visit.account.email, "nobody@example.com"]) {
      await page.goto("about:blank");
      await page.goto(`${service.stack.supabaseUrl}/console/`);
      await page.getByLabel("E-mail").fill(email);
      await page.getByLabel("Password").fill("not the password");
      await press(page, "Sign in");
      texts.push(await page.getByRole("alert").innerText());
    }
    assertEquals(texts[0], texts[1]);
  });
}, { isSignedOut: true });
