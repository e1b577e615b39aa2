/** The console shows the operator's settings to a person before they try a refused action. */
import { assertEquals } from "@std/assert";
import { browserSuite, type Visit } from "../support/browser/browser.ts";
import { dialog, press, says } from "../support/browser/page_actions.ts";

const { service, test } = await browserSuite();

/** Runs `work` while only `makers` may create projects. `{email}` stands for the person's address, which is confirmed. */
async function withMakers(
  { account }: Visit,
  makers: readonly string[],
  work: (email: string) => Promise<void>,
): Promise<void> {
  const [owner] = await service.sql<{ email: string }>(
    "select u.email from auth.users u join filestore.projects p on p.owner_id = u.id where p.id = $1",
    [account.projectId],
  );
  const email = owner?.email ?? "";
  const listed = makers.map((maker) => maker.replace("{email}", email));
  await service.sql("update filestore.settings set project_makers = $1", [listed]);
  try {
    await work(email);
  } finally {
    await service.sql("update filestore.settings set project_makers = '{anyone}'");
  }
}

const NOBODY =
  /^Only the operator of this service can create projects\. Ask the operator for one for \S+@\S+\.$/;
const NOT_LISTED = /^Only listed e-mail addresses can create projects, and \S+@\S+ is not on the list\./;

test("who may create projects: the settings say it, and so does the place where one would be made", async (visit) => {
  const { page, part, open } = visit;
  const card = page.getByRole("region", { name: "All of your projects" });
  const form = dialog(page, "New project");
  for (
    const [setting, makers, told, isRefused] of [
      ["anyone", ["anyone"], /^Anyone who signs up here may create projects/, false],
      ["a list with this person", ["{email}"], /Yours is one of them\.$/, false],
      ["a list without", ["x@example.com"], NOT_LISTED, true],
      ["nobody", [], NOBODY, true],
    ] as const
  ) {
    await part(setting, () =>
      withMakers(visit, makers, async () => {
        await page.goto("about:blank");
        await open("settings?tab=account");
        await card.getByText(told).waitFor();
        await press(page, "New project");
        if (isRefused) await form.getByText(told).waitFor();
        else await form.getByLabel("Name").and(page.locator(":focus")).waitFor();
        assertEquals(await form.getByRole("textbox").count(), isRefused ? 0 : 1);
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "New project" }).and(page.locator(":focus")).waitFor();
      }));
  }
});

test(
  "where it cannot be told who may create projects, the form is there, and the service decides",
  async (visit) => {
    const { page, open } = visit;
    await page.route("**/functions/v1/api/account", (route) => route.fulfill({ status: 500, body: "" }));
    await open("files");
    await press(page, "New project");
    const form = dialog(page, "New project");
    await form.getByLabel("Name").fill("second");
    await press(form, "Create project");
    await says(page, "Project second is ready.");
  },
  { expectsProblems: true },
);

test("an account without a project sees that its e-mail address is not listed, or not confirmed", async (visit) => {
  const { page, step, account } = visit;
  await withMakers(visit, ["x@example.com"], async (email) => {
    await service.sql("update filestore.projects set owner_id = null where id = $1", [account.projectId]);
    await step("not listed", async () => {
      await page.goto(`${service.stack.supabaseUrl}/console/`);
      await page.getByText(NOT_LISTED).waitFor();
    });
    await step("not confirmed", async () => {
      await service.sql("update auth.users set email_confirmed_at = null where email = $1", [email]);
      await press(page, "Check again");
      await page.getByText(`${email} is not confirmed.`).waitFor();
    });
    await step("once it is listed and confirmed, there is a project", async () => {
      await service.sql("update auth.users set email_confirmed_at = now() where email = $1", [email]);
      await service.sql("update filestore.settings set project_makers = $1", [[email]]);
      await press(page, "Check again");
      await page.getByText("There are no files yet.").waitFor();
    });
  });
});
