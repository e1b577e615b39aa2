/** The webhooks of a project in its settings: made, tested, watched, paused, and deleted; the secret is shown once. */
import { assert, assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { choose, dialog, press, says } from "../support/browser/page_actions.ts";
import { Receiver, verify } from "../support/client/receiver.ts";
import { eventually } from "../support/eventually.ts";

const receiver = new Receiver();
Deno.test.afterAll(() => receiver.stop());
const { test } = await browserSuite({ functionVariables: { OUTBOUND_ALLOWED_HOSTS: receiver.host } });

const URL = receiver.urlOf("files");

test("webhooks: made with a secret that verifies what arrives, tested, its deliveries shown, and changes are delivered", async (visit) => {
  const { page, step, open, account: { files } } = visit;
  let secret = "";
  const entry = page.getByRole("listitem", { name: URL });
  const deliveries = page.getByRole("table", { name: `Deliveries to ${URL}, newest first` });
  await step("an address that nobody else can reach is refused at its field", async () => {
    await open("settings?tab=webhooks");
    await says(page, "There are no webhooks.");
    await press(page, "New webhook");
    const form = dialog(page, "New webhook");
    await form.getByLabel("Address").fill("https://localhost/files");
    await press(form, "Create webhook");
    await form.locator("input[aria-invalid=true]").waitFor();
    assertEquals(await form.getByLabel("Address").getAttribute("aria-invalid"), "true");
  });
  await step("made, with its secret once", async () => {
    const form = dialog(page, "New webhook");
    await form.getByLabel("Address").fill(URL);
    await form.getByLabel("Folder").fill("notes");
    await form.getByLabel("Description").fill("The night shift");
    await press(form, "Create webhook");
    const shown = dialog(page, "Secret of the webhook");
    secret = await shown.getByLabel("Secret").inputValue();
    await press(shown, "Done");
    await entry.getByText("Changes of files, below notes").waitFor();
    await entry.getByText("The night shift").waitFor();
    assert(!(await page.content()).includes(secret));
  });
  await step("a test", async () => {
    await press(entry, "Send test");
    await says(page, "The receiver answered 204.");
    await deliveries.getByRole("row", { name: /webhook\.test.*204/ }).waitFor();
  });
  await step("a change", async () => {
    await files.write("notes/plan.md", "# Plan\n");
    await eventually("the change is delivered", () => receiver.changes().includes("notes/plan.md 1"));
    for (const one of receiver.received) verify(secret, one);
    await choose(page, "Refresh");
    await deliveries.getByRole("row", { name: /change.*204/ }).waitFor();
  });
  await step("what failed says when it is tried again", async () => {
    receiver.behaviour = () => new Response(null, { status: 500 });
    await files.append("notes/plan.md", "More.\n");
    await eventually("its failure", () => receiver.changes().includes("notes/plan.md 2"));
    await choose(page, "Refresh");
    await deliveries.getByRole("row", { name: /change.*500/ }).waitFor();
    await entry.getByText("1 try failed. Next try").waitFor();
    receiver.accept();
  });
  await step("paused, and resumed where it was", async () => {
    await press(entry, "Pause");
    await entry.getByText("paused").waitFor();
    const before = receiver.received.length;
    await press(entry, "Resume");
    await entry.getByText("active").waitFor();
    await eventually("what waited is delivered", () => receiver.received.length > before);
    assertEquals(
      receiver.received.at(-1)?.body.data.changes.map(({ path, version }) => `${path} ${version}`),
      [
        "notes/plan.md 2",
      ],
    );
  });
  await step("delivered again", async () => {
    receiver.received.length = 0;
    await choose(page, "Deliver again …");
    await press(dialog(page, "Deliver again"), "Deliver again");
    await eventually(
      "everything is delivered again",
      () => receiver.changes().includes("notes/plan.md 1"),
    );
  });
  await step("its secret rotated", async () => {
    await choose(page, "Rotate secret …");
    await press(dialog(page, "Rotate the secret"), "Rotate secret");
    const shown = dialog(page, "Secret of the webhook");
    const next = await shown.getByLabel("Secret").inputValue();
    assert(next !== secret);
    await press(shown, "Done");
  });
  await step("deleted", async () => {
    await choose(page, "Delete …");
    await press(dialog(page, "Delete webhook?"), "Delete webhook");
    await says(page, "There are no webhooks.");
  });
});
