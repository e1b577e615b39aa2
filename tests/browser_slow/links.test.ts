/** Links: created for a file, used without a key, listed and revoked. */
import { assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { dialog, follow, press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("links: one that reads is made by keyboard, copied, works without a key, and not once it has ended", async (visit) => {
  const { page, context, step, open, account: { files } } = visit;
  await files.write("plan.md", "first\n");
  await files.overwrite("plan.md", "second\n");
  await open("file/plan.md?version=1");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const links = dialog(page, "Links to this file");
  let url = "";
  await step("made for this version alone", async () => {
    await page.getByRole("button", { name: "Links" }).focus();
    await page.keyboard.press("Enter");
    await links.getByLabel("Only version 1").focus();
    await page.keyboard.press("Space");
    await links.getByRole("button", { name: "Create link" }).focus();
    await page.keyboard.press("Enter");
    url = await links.getByLabel("Address").inputValue();
    assertEquals(await (await fetch(url)).text(), "first\n");
    await links.getByText("read version 1, expires").waitFor();
  });
  await step("copied", async () => {
    await links.getByRole("button", { name: "Copy the address" }).click();
    await links.getByText("Copied").waitFor();
    assertEquals(await page.evaluate(() => navigator.clipboard.readText()), url);
  });
  await step("ended", async () => {
    await links.getByRole("button", { name: /^Revoke the read link to plan\.md/ }).click();
    await links.getByText("read version 1").waitFor({ state: "detached" });
    const answer = await fetch(url);
    await answer.body?.cancel();
    assertEquals(answer.status, 410);
  });
});

test("links: one that writes once, for a file that is not there yet; the list shows what can be used", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  await open("links");
  await says(page, "There are no links.");
  let url = "";
  await step("made for a path", async () => {
    await press(page, "New link");
    const form = dialog(page, "New link");
    await form.getByLabel("File").fill("inbox/report.md");
    await form.getByLabel("Permission").selectOption("Write one version");
    assertEquals(await form.getByLabel("Expires in", { exact: true }).locator("option").allTextContents(), [
      "10 minutes",
      "30 minutes",
      "1 hour",
    ]);
    await press(form, "Create link");
    const made = dialog(page, "Your new link");
    url = await made.getByLabel("Address").inputValue();
    await press(made, "Done");
  });
  await step("listed until it is used", async () => {
    await page.getByRole("cell", { name: "write once" }).waitFor();
    const answer = await fetch(url, { method: "PUT", body: "done\n" });
    await answer.body?.cancel();
    assertEquals(answer.status, 200);
    assertEquals((await files.read("inbox/report.md")).content, "done\n");
    await page.reload();
    await says(page, "There are no links.");
  });
  await step("a reading link to nothing is refused beside the field", async () => {
    await press(page, "New link");
    const form = dialog(page, "New link");
    await form.getByLabel("File").fill("nowhere.md");
    await press(form, "Create link");
    await form.getByText("There is no file at this path.").waitFor();
    await press(form, "Cancel");
  });
  await step("what an agent made is listed, leads to its file, and can be ended", async () => {
    await files.request("POST", "/links", { body: { path: "inbox/report.md", for: "read" } });
    await page.reload();
    await press(page, "New link");
    await press(dialog(page, "New link"), "Cancel");
    await page.getByRole("button", { name: /^Revoke the read link to inbox\/report\.md/ }).click();
    await says(page, "Revoked the link to report.md.");
    await says(page, "There are no links.");
  });
  await follow(page, "Files");
});
