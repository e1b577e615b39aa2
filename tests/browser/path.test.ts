/** A person's whole path: from signing up to a key that no longer works. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import {
  dialog,
  follow,
  press,
  says,
  shownText,
  toggleHistory,
  typeAtEnd,
} from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("console: from sign-up to a revoked key", async (visit) => {
  const { page, step, service } = visit;
  let line = "";
  await step("signing up leads into a project of one's own", async () => {
    await page.goto(`${service.stack.supabaseUrl}/console`);
    await press(page, "Create an account");
    await page.getByLabel("E-mail").fill(`ada-${crypto.randomUUID()}@example.com`);
    await page.getByLabel("Password").fill("correct horse battery staple");
    await press(page, "Create account");
    await says(page, "There are no files yet.");
    assertEquals(await page.getByLabel("Project", { exact: true }).innerText(), "My project");
  });
  await step("a new project opens, empty", async () => {
    await press(page, "New project");
    const form = dialog(page, "New project");
    await form.getByLabel("Name").fill("Research agents");
    await press(form, "Create project");
    await says(page, "Project Research agents is ready.");
    await says(page, "There are no files yet.");
  });
  await step("a key is made, and shown with a line for the terminal", async () => {
    await follow(page, "API keys");
    await press(page, "New key");
    const form = dialog(page, "New API key");
    await form.getByLabel("Name").fill("laptop");
    await press(form, "Create key");
    const shown = dialog(page, "Your new key");
    const key = await shown.getByLabel("API key", { exact: true }).inputValue();
    line = await shown.getByLabel("Try it in a terminal").inputValue();
    assertStringIncludes(line, key);
    await press(shown, "Done");
    assert(!(await page.content()).includes(key), "the key is shown once only");
  });
  await step("the line writes a file", async () => {
    const answer = JSON.parse(await shell(line));
    assertEquals([answer.success, answer.data.path, answer.data.version], [true, "hello.md", 1]);
  });
  await step("the file appears, with what the line wrote", async () => {
    await follow(page.getByRole("navigation", { name: "Sections" }), "Files");
    await follow(page, "hello.md");
    assertEquals((await shownText(page, "Content of hello.md")).trimEnd(), "# Hello");
  });
  await step("an edit is saved as the next version", async () => {
    await follow(page, "Edit");
    await typeAtEnd(page, "hello.md", "A line of mine.\n");
    await press(page, "Save");
    await says(page, "Saved as version 2.");
    assertStringIncludes(await shownText(page, "Content of hello.md"), "A line of mine.");
  });
  await step("the history names both writers, and compares their versions", async () => {
    await toggleHistory(page);
    const rows = page.getByRole("list", { name: "Versions of hello.md" }).getByRole("listitem");
    await rows.filter({ hasText: "Version 2" }).getByText("by Console").waitFor();
    await rows.filter({ hasText: "Version 1" }).getByText("by laptop").waitFor();
    await page.getByLabel("Compare version 1").check();
    await page.getByLabel("Compare version 2").check();
    await press(page, "Compare");
    const changes = page.getByRole("region", { name: "Changes from version 1 to 2" });
    assertEquals(await changes.locator("tr.added .line").textContent(), "added: A line of mine.");
    await page.getByText("1 line added").waitFor();
    await page.getByText("0 lines removed").waitFor();
  });
  await step("restoring makes a version with the old content; nothing is lost", async () => {
    await toggleHistory(page);
    await press(page, "Restore version 1");
    await says(page, "version 3 has the content of version 1");
    await page.getByRole("link", { name: "Version 2", exact: true }).waitFor();
    await page.getByRole("link", { name: /^Version 3 · / }).waitFor();
    await toggleHistory(page);
    assertEquals((await shownText(page, "Content of hello.md")).trimEnd(), "# Hello");
  });
  await step("a revoked key is refused: the same line answers 401 and writes nothing", async () => {
    await follow(page, "API keys");
    await press(page, "Revoke laptop");
    await press(dialog(page, "Revoke laptop?"), "Revoke key");
    await says(page, "laptop was revoked.");
    await page.getByRole("row", { name: "laptop" }).getByText("revoked").waitFor();
    const [body = "", status] = (await shell(`${line} -w '\\n%{http_code}'`)).split("\n");
    assertEquals([status, JSON.parse(body).error.code], ["401", "INVALID_API_KEY"]);
    await follow(page, "Activity");
    const writes = page.getByRole("table", { name: "Latest writes" });
    await writes.getByRole("row").nth(1).waitFor();
    for (const group of await writes.locator("button[aria-expanded]").all()) await group.click();
    await writes.getByText("version 3").waitFor();
    assertEquals(await writes.getByText("version 4").count(), 0);
  });
}, { isSignedOut: true });

/** Runs the copied line in a shell and returns its output. */
async function shell(line: string): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command("sh", {
    args: ["-c", `${line} --silent --show-error`],
  })
    .output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}
