/** Permanent deletion in the console: it requires typing the name or the address, and then access ends everywhere. */
import { assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { descriptionOf } from "../support/browser/form_input.ts";
import { becomesFocused, dialog, press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("a project is deleted once its name was typed, and another one opens", async (visit) => {
  const { page, step, open, service, account } = visit;
  const { files, projectId } = account;
  await files.write("f.txt", "x\n");
  const title = "Delete My project for good?";
  await open("settings?tab=danger");
  await step("the dialog begins at Cancel, Escape closes it", async () => {
    await press(page, "Delete project");
    await becomesFocused(page, dialog(page, title).getByRole("button", { name: "Cancel" }));
    await page.keyboard.press("Escape");
    await dialog(page, title).waitFor({ state: "hidden" });
  });
  await step("another name deletes nothing, and the field says why", async () => {
    await press(page, "Delete project");
    const field = dialog(page, title).getByLabel("Type the project's name, My project");
    await field.fill("my project");
    await press(dialog(page, title), "Delete project");
    await says(page, "must be the name of the project");
    assertEquals(await descriptionOf(field), "must be the name of the project");
    assertEquals((await files.read("f.txt")).content, "x\n");
  });
  await step("its name deletes it", async () => {
    await dialog(page, title).getByLabel("Type the project's name, My project").fill("My project");
    await press(dialog(page, title), "Delete project");
    await says(page, "My project was deleted.");
    await page.getByText("There are no files yet.").waitFor();
    assertEquals(page.url().includes(projectId), false);
    const answer = await service.request(files.key, "GET", "/files/f.txt");
    assertEquals(answer.status, 401);
  });
});

test("an account is deleted once its address was typed, and is signed out", async (visit) => {
  const { page, step, open, service, account } = visit;
  const [row] = await service.sql<{ email: string; id: string }>(
    "select u.id, u.email from auth.users u join filestore.projects p on p.owner_id = u.id where p.id = $1",
    [account.projectId],
  );
  const { email, id } = row ?? { email: "", id: "" };
  const title = "Delete your account for good?";
  await open("settings?tab=danger");
  await step("another address deletes nothing", async () => {
    await press(page, "Delete account");
    await dialog(page, title).getByRole("textbox").fill("somebody@example.org");
    await press(dialog(page, title), "Delete account");
    await says(page, "must be the e-mail address of the account");
  });
  await step("its address deletes it, and the sign-in page is shown", async () => {
    await dialog(page, title).getByRole("textbox").fill(email);
    await press(dialog(page, title), "Delete account");
    await page.getByRole("button", { name: "Sign in" }).first().waitFor();
    assertEquals(await service.sql("select from auth.users where id = $1", [id]), []);
    assertEquals(await service.sql("select from filestore.projects where owner_id = $1", [id]), []);
  });
});
