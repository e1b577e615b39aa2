/** The page "Connect": the commands and settings it offers work exactly as copied, up to an agent's first call. */
import { assert, assertEquals } from "@std/assert";
import type { Page } from "playwright-core";
import { FIRST_CALL_PAUSE_MILLISECONDS } from "../../supabase/console/src/limits.ts";
import { browserSuite, type Visit } from "../support/browser/browser.ts";
import { Account } from "../support/client/accounts.ts";
import { App, connected } from "../support/client/oauth.ts";
import { press, says } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

const KEYS = "GET /project/apikeys";

test("connect: a new key is put into every text, and the copied command turns the page green", async (visit) => {
  const { page, context, step, service, account: { files } } = visit;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.clock.install();
  await files.write("a.txt", "a\n");
  const key = await makeKey(visit, "planner", "Read and write");
  await step("it waits", () => says(page, /^Waiting for the first call with planner/));
  await step("every client's text has it, or says where it goes", async () => {
    for (const button of await page.locator(".clients").getByRole("button").all()) {
      await button.click();
      const shown = (await page.locator(".step").allInnerTexts()).join("\n");
      assert(/asks for the key once|\/connect\n/.test(shown) || shown.includes(key), shown);
      assert(shown.includes(service.baseUrl), shown);
    }
  });
  await step("the command runs in a shell, and the page says so", async () => {
    await press(page, "Without a framework");
    await press(page, "Copy the settings of Without a framework");
    const command = await copied(page);
    const { success, stdout } = await new Deno.Command("sh", { args: ["-c", command] }).output();
    assert(success);
    const { data } = JSON.parse(new TextDecoder().decode(stdout));
    assertEquals(data.files.map(({ path }: { path: string }) => path), ["a.txt"]);
    await says(page, /^planner is connected\./);
    assertEquals(await page.locator(".first-call.called").count(), 1);
  });
  await step("nobody looks any more", async () => {
    const before = visit.calls.filter((call) => call === KEYS).length;
    await page.clock.runFor(10 * FIRST_CALL_PAUSE_MILLISECONDS);
    assertEquals(visit.calls.filter((call) => call === KEYS).length, before);
  });
});

test("connect: an app that signs in gets an address without a key, and the first call of a new app turns the page green", async (visit) => {
  const { page, open, step, service, account } = visit;
  const person = new Account(service, JSON.parse(account.session).access_token, account.projectId);
  const before = await (await App.register(service, { client_name: "Of before" })).connect(person);
  await page.clock.install();
  await open("connect");
  await step("address and steps, and it waits", async () => {
    await press(page, "ChatGPT");
    await press(page, "claude.ai");
    const address = page.getByRole("region", { name: "The settings of claude.ai", exact: true });
    assertEquals((await address.innerText()).trim(), `${service.baseUrl}/connect`);
    assertEquals(await page.locator(".step li").count(), 5);
    await says(page, /^Waiting for the first call with claude\.ai/);
  });
  await step("an app that was connected before is not the one", async () => {
    await connected(service, before.access_token).call("list_files");
    const looked = page.waitForResponse((response) => response.url().endsWith("/project/apikeys"));
    await page.clock.runFor(FIRST_CALL_PAUSE_MILLISECONDS);
    await looked;
    assertEquals(await page.locator(".first-call.called").count(), 0);
  });
  await step("the one that signs in now is", async () => {
    const { access_token } = await (await App.register(service, { client_name: "Claude" })).connect(person);
    await connected(service, access_token).call("list_files");
    await page.clock.runFor(FIRST_CALL_PAUSE_MILLISECONDS);
    await says(page, /^Claude is connected\./);
  });
});

/** Creates a key on the page "Connect", and returns it. */
async function makeKey({ page, open }: Visit, name: string, may: string): Promise<string> {
  await open("connect");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Permission").selectOption(may);
  await press(page, "Create key");
  return await page.getByRole("region", { name: "The key", exact: true }).innerText();
}

async function copied(page: Page): Promise<string> {
  await says(page, "Copied");
  return await page.evaluate(() => navigator.clipboard.readText());
}
