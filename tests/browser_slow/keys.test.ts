/** Keys created in the console have exactly the chosen rights. */
import { assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { browserSuite } from "../support/browser/browser.ts";
import { Files } from "../support/client/files.ts";
import { dialog, press } from "../support/browser/page_actions.ts";
import { Account } from "../support/client/accounts.ts";
import { App, connected, tokensOf } from "../support/client/oauth.ts";
import type { Service } from "../support/stack/service.ts";

const { test } = await browserSuite();

test("keys: scopes and prefix are what was ticked and typed", async (visit) => {
  const { page, open, service, account: { files } } = visit;
  for (const path of ["agents/a/notes.md", "agents/b/notes.md"]) await files.write(path, "x\n");
  await open("keys");
  await press(page, "New key");
  const form = dialog(page, "New API key");
  await form.getByLabel("Name").fill("reader");
  await form.getByLabel("Environment").selectOption("Production");
  await form.getByLabel("Write").uncheck();
  await form.getByLabel("Path prefix").fill("agents/a");
  await form.getByLabel("Expires").fill("2040-01-01T12:00");
  await press(form, "Create key");
  const key = await takeKey(page);
  const row = page.getByRole("row", { name: "reader" });
  await row.getByText("below agents/a").waitFor();
  await row.getByText("production").waitFor();
  await row.getByRole("cell", { name: "read", exact: true }).waitFor();
  await row.getByText("ends Jan 1, 2040").waitFor();
  assertEquals(await new Files(service, key).paths({ recursive: true }), ["agents/a/notes.md"]);
});

test("keys: editing renames and narrows, and offers nothing more than the key has", async (visit) => {
  const { page, step, open, service, account: { files } } = visit;
  for (const path of ["a/in.md", "out.md"]) await files.write(path, "x\n");
  await open("keys");
  const key = await makeKey(page, "worker");
  const edit = dialog(page, "Edit worker");
  await step("a folder that is none is refused beside its field", async () => {
    await press(page, "Edit worker");
    assertEquals(await edit.getByLabel("Admin").isDisabled(), true);
    await edit.getByLabel("Path prefix").fill("../a");
    await press(edit, "Save");
    await edit.locator(".field-problem").waitFor();
  });
  await step("name, scopes and prefix are what was typed", async () => {
    await edit.getByLabel("Name").fill("reader");
    await edit.getByLabel("Write").uncheck();
    await edit.getByLabel("Path prefix").fill("a");
    await press(edit, "Save");
    const row = page.getByRole("row", { name: "reader" });
    await row.getByText("below a").waitFor();
    await row.getByRole("cell", { name: "read", exact: true }).waitFor();
    assertEquals(await new Files(service, key).paths({ recursive: true }), ["a/in.md"]);
    const body = { path: "a/new.md", content: "" };
    assertEquals(await codeOf(service, key, "POST", "/files", body), "FORBIDDEN_SCOPE");
  });
});

test("keys: rotating leaves the old key its grace period, or revokes it immediately", async (visit) => {
  const { page, step, open, service } = visit;
  await open("keys");
  const first = await makeKey(page, "worker");
  await step("with a grace period of an hour both work", async () => {
    await press(page, "Rotate worker");
    await dialog(page, "Rotate worker").getByLabel("The old key").selectOption("Works for one more hour");
    await press(dialog(page, "Rotate worker"), "Rotate key");
    const second = await takeKey(page);
    await page.getByRole("row", { name: "worker" }).getByText(/ends in (1 hour|\d\d minutes)/).waitFor();
    assertEquals(await codeOf(service, first, "GET", "/files"), undefined);
    assertEquals(await codeOf(service, second, "GET", "/files"), undefined);
  });
});

test("keys: a connected app is listed with its host and its last call, and is refused once it is revoked", async (visit) => {
  const { page, step, open, service, account } = visit;
  const person = new Account(service, JSON.parse(account.session).access_token, account.projectId);
  const app = await App.register(service, { client_name: "Planner\u202e" });
  const code = await app.code(person, { scopes: ["read"], pathPrefix: "agents/a" });
  await open("keys");
  const row = page.getByRole("table", { name: "Connected apps" }).getByRole("row", { name: /Planner/ });
  await step("before its first call", async () => {
    await row.getByText("app.example.com").waitFor();
    await row.getByText("below agents/a").waitFor();
    await row.getByRole("cell", { name: "never", exact: true }).waitFor();
    assertEquals(await row.getByRole("button").allTextContents(), ["Revoke"]);
  });
  const { access_token } = tokensOf(await app.exchange(code));
  const agent = connected(service, access_token);
  await step("after it", async () => {
    await agent.call("list_files");
    await page.reload();
    await row.getByRole("time").waitFor();
  });
  await step("revoked", async () => {
    await press(page, "Revoke Planner");
    await press(dialog(page, "Revoke Planner?"), "Revoke access");
    await row.getByText("revoked").waitFor();
    assertEquals((await agent.rpc("tools/call", { name: "list_files", arguments: {} })).status, 401);
  });
});

async function makeKey(page: Page, name: string): Promise<string> {
  await press(page, "New key");
  await dialog(page, "New API key").getByLabel("Name").fill(name);
  await press(dialog(page, "New API key"), "Create key");
  return await takeKey(page);
}

/** Returns the key from the dialog. The dialog shows a key only once. */
async function takeKey(page: Page): Promise<string> {
  const shown = dialog(page, "Your new key");
  const key = await shown.getByLabel("API key", { exact: true }).inputValue();
  await press(shown, "Done");
  return key;
}

/** Returns the code of a refusal; undefined if the request succeeded. */
async function codeOf(
  service: Service,
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<string | undefined> {
  const response = await fetch(service.baseUrl + path, {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return (await response.json()).error?.code;
}
