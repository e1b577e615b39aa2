/** Mail that a local stack does not send: the page that requested it shows its links, and they work. */
import { assertEquals } from "@std/assert";
import { browserSuite } from "../support/browser/browser.ts";
import { press } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test(
  "local mail: a reset link is shown where it was asked for, and opens the form for a new password",
  async (visit) => {
    const { page, account, service } = visit;
    await page.goto(`${service.stack.supabaseUrl}/console/`);
    await press(page, "Forgot your password?");
    await page.getByLabel("E-mail").fill(account.email.toUpperCase());
    await press(page, "Send reset link");
    const mail = page.getByRole("region", { name: "Local mail" });
    await mail.getByRole("link", { name: "Reset Your Password" }).click();
    await page.getByRole("heading", { name: "Choose a new password" }).waitFor();
    assertEquals(new URL(page.url()).hash.includes("access_token"), false);
  },
  { isSignedOut: true },
);

test("local mail: a site that is not of a local stack asks for none", async (visit) => {
  const { page, account, service, fetched } = visit;
  await page.route("**/console/config.json", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...await answer.json(), localMail: false } });
  });
  await page.goto(`${service.stack.supabaseUrl}/console/`);
  await press(page, "Send me a sign-in link");
  await page.getByLabel("E-mail").fill(account.email);
  await press(page, "Send link");
  await page.getByText("is on its way").waitFor();
  assertEquals(fetched.filter((address) => address.includes("local_mail")), []);
  assertEquals(await page.getByRole("region", { name: "Local mail" }).count(), 0);
}, { isSignedOut: true });
