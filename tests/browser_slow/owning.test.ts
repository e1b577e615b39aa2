/** Owning a project: its usage over time, its retention rule, and permanent erasure. */
import { assertEquals } from "@std/assert";
import { VERSION } from "../../supabase/functions/api/version.ts";
import { browserSuite } from "../support/browser/browser.ts";
import { descriptionOf } from "../support/browser/form_input.ts";
import { choose, dialog, press, says } from "../support/browser/page_actions.ts";
import { assertRefused } from "../support/client/contract.ts";

const { test } = await browserSuite();

test("usage over time: a chart and tables by day and by key, of one key where it is chosen", async (visit) => {
  const { page, step, open, service, account: { files, projectId } } = visit;
  await files.write("a.txt", "12345");
  await files.append("a.txt", "678");
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  await service.sql(
    `insert into filestore.usage_days (project_id, day, key_id, requests, versions, bytes_written)
     values ($1, $2::date, '00000000-0000-0000-0000-000000000000', 1234, 0, 0), ($1, $3::date, $4, 100, 7, 2048)`,
    [projectId, day(40), day(3), crypto.randomUUID()],
  );
  const row = (table: string, name: string | RegExp) =>
    page.getByRole("table", { name: table }).getByRole("row", { name });
  await step("the last 30 days, with what each key did, and at the foot the version", async () => {
    await open("settings");
    await page.getByRole("heading", { name: "Usage over time" }).waitFor();
    await page.getByText(`peak 100 on ${day(3)}.`).waitFor();
    await row("Usage by key", /^Key [0-9a-f]{8}, forgotten 100 7 2 KB$/).waitFor();
    await page.getByText(`Filestore ${VERSION}`).waitFor();
    await row("Usage by key", /^test \d+ 2 8 B$/).waitFor();
  });
  await step("the table has every number of the chart, the newest day first", async () => {
    await page.getByText("By day, as a table").click();
    const rows = page.getByRole("table", { name: "Usage by day" }).getByRole("row");
    assertEquals(await rows.count(), 31);
    await row("Usage by day", new RegExp(`^${day(3)} 100 7 2 KB not known not known$`)).waitFor();
    assertEquals((await rows.nth(1).textContent())?.startsWith(day(0)), true);
  });
  await step("a longer period, another quantity, one key", async () => {
    await page.getByLabel("Period").selectOption("90 days");
    await page.getByText(`peak 1,234 on ${day(40)}.`).waitFor();
    await page.getByLabel("Shown").selectOption("Content stored");
    await page.getByText(/^8 B stored; peak/).waitFor();
    await page.getByLabel("Key", { exact: true }).selectOption("Console");
    // Requests of this tab count as the console's, too.
    await page.getByText(/^1,23\d requests; peak/).waitFor();
    assertEquals(await page.getByLabel("Shown").getByRole("option").allTextContents(), [
      "Requests",
      "Versions written",
      "Content written",
    ]);
  });
});

test("a rule is shown with what it would let go, and saved as it was shown", async (visit) => {
  const { page, step, open, service, account: { files, projectId } } = visit;
  for (let n = 1; n <= 4; n++) await files.write("log.txt", `${n}`);
  await files.write("once.txt", "x");
  const rule = async () =>
    (await service.sql<{ retention: unknown }>("select retention from filestore.projects where id = $1", [
      projectId,
    ]))[0]?.retention;
  const newest = page.getByLabel("Versions to keep");
  const look = page.getByRole("button", { name: "Preview deletions" });
  await step("an error about a value that is no number is at its field", async () => {
    await open("settings?tab=retention");
    await newest.fill("two");
    assertEquals((await descriptionOf(newest)).endsWith("must be a whole number, or empty"), true);
    assertEquals(await look.isDisabled(), true);
    await newest.fill("0");
    await look.click();
    await newest.and(page.locator("[aria-invalid=true]")).waitFor();
  });
  await step("the preview counts and names what would go, and changes nothing", async () => {
    await newest.fill("1");
    await look.click();
    await says(page, "3 versions would be deleted for good.");
    await page.getByRole("listitem").filter({ hasText: "log.txt 3 versions" }).waitFor();
    assertEquals([await rule(), (await files.versions("log.txt")).total], [null, 4]);
  });
  await step("another rule has to be looked at again", async () => {
    await newest.fill("2");
    await page.getByRole("button", { name: "Save rule and delete" }).waitFor({ state: "hidden" });
    await look.click();
    await says(page, "2 versions would be deleted for good.");
    await press(page, "Save rule and delete");
    await says(page, "The rule was saved.");
    assertEquals(await rule(), { keepVersions: 2 });
  });
  await step("emptied, there is no rule", async () => {
    await newest.fill("");
    await look.click();
    await says(page, "Nothing would be deleted.");
    await press(page, "Save rule");
    await page.getByRole("button", { name: "Save rule" }).waitFor({ state: "hidden" });
    assertEquals(await rule(), null);
  });
});

test("a file is erased for good once its name was typed, from its page and from the deleted files", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await files.write("notes/secret.md", "a");
  await files.append("notes/secret.md", "b");
  await files.write("old.md", "x");
  await files.remove("old.md");
  const title = "Erase secret.md for good?";
  await step("another name erases nothing", async () => {
    await open("file/notes/secret.md");
    await choose(page, "Erase for good …");
    const field = dialog(page, title).getByRole("textbox");
    await field.fill("secret");
    await press(dialog(page, title), "Erase for good");
    await says(page, "must be secret.md");
    assertEquals(await descriptionOf(field), "must be secret.md");
    assertEquals((await files.versions("notes/secret.md")).total, 2);
  });
  await step("its name erases it, and its folder is shown", async () => {
    await dialog(page, title).getByRole("textbox").fill("secret.md");
    await press(dialog(page, title), "Erase for good");
    await says(page, "Erased secret.md for good, with 2 versions.");
    await page.waitForURL(/\/files\/notes$/);
    assertRefused(await files.request("GET", "/files/notes/secret.md?versions"), "FILE_NOT_FOUND");
  });
  await step("a deleted file, too", async () => {
    await open("deleted");
    await choose(page, "Erase for good …");
    await dialog(page, "Erase old.md for good?").getByRole("textbox").fill("old.md");
    await press(dialog(page, "Erase old.md for good?"), "Erase for good");
    await page.getByText("Nothing is deleted.").waitFor();
    assertRefused(await files.request("GET", "/files/old.md?versions"), "FILE_NOT_FOUND");
  });
});

test("the content of versions is erased from the history, which says what may still hold the same", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  for (let n = 1; n <= 4; n++) await files.write("plan.md", `${n}`);
  await files.put("copy", "plan.md", { destination: "copy.md" });
  await files.put("restore", "plan.md", { version: 2 });
  const erase = page.getByRole("button", { name: "Erase content …" });
  const title = "Erase the content of 2 versions for good?";
  await step("the latest version cannot be chosen for it", async () => {
    await open("file/plan.md?tab=history");
    await page.getByLabel("Compare version 5").check();
    assertEquals(await erase.isDisabled(), true);
    await page.getByLabel("Compare version 5").uncheck();
  });
  await step("with the name typed, and a note", async () => {
    await page.getByLabel("Compare version 1").check();
    await page.getByLabel("Compare version 2").check();
    await erase.click();
    await dialog(page, title).getByLabel("New note (optional)").fill("a password");
    await dialog(page, title).getByLabel("Type the file's name, plan.md").fill("plan.md");
    await press(dialog(page, title), "Erase content");
    await says(page, "Erased the content of 2 versions of plan.md for good.");
  });
  await step("what shares a piece is named", async () => {
    const also = dialog(page, "Check these, too");
    assertEquals(await also.getByRole("link").allTextContents(), ["plan.md, version 5"]);
    await press(also, "Done");
  });
  await step("the versions stay in the list, without anything to read", async () => {
    const row = page.getByRole("listitem").filter({ hasText: "Version 1" });
    await row.getByText("erased").waitFor();
    await row.getByText("a password").waitFor();
    assertEquals(await row.getByRole("button").count() + await row.getByRole("checkbox").count(), 0);
    assertRefused(await files.request("GET", "/files/plan.md?version=1"), "VERSION_REDACTED");
    assertEquals((await files.read("plan.md", { version: 3 })).content, "3");
  });
});
