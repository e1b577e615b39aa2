/** Where the operator gives projects out: what an account sees that has none. */
import { browserSuite } from "../support/browser/browser.ts";
import { follow, press } from "../support/browser/page_actions.ts";

const { test } = await browserSuite();

test("an account without a project is told whom to ask, looks again, or signs out", async (visit) => {
  const { page, step, service, account } = visit;
  const home = `${service.stack.supabaseUrl}/console/`;
  await service.sql("update filestore.settings set project_makers = '{}'");
  try {
    const [project] = await service.sql<{ owner_id: string }>(
      "update filestore.projects p set owner_id = null from (select id, owner_id from filestore.projects) old " +
        "where p.id = $1 and old.id = p.id returning old.owner_id",
      [account.projectId],
    );
    await step("told whom to ask", async () => {
      await page.goto(home);
      await page.getByRole("heading", { name: "No project yet" }).waitFor();
      await page.getByText("Only the operator of this service creates projects").waitFor();
    });
    await step("once one was given, it opens", async () => {
      await service.sql("update filestore.projects set owner_id = $2 where id = $1", [
        account.projectId,
        project?.owner_id,
      ]);
      await press(page, "Look again");
      await page.getByText("There are no files yet.").waitFor();
      await follow(page, "Settings and usage");
      await page.getByText("Content, records and search index").waitFor();
    });
    await step("signs out", async () => {
      await service.sql("update filestore.projects set owner_id = null where id = $1", [account.projectId]);
      await page.goto(home);
      await page.reload();
      await press(page, "Sign out");
      await page.getByRole("button", { name: "Sign in" }).first().waitFor();
    });
  } finally {
    await service.sql("update filestore.settings set project_makers = '{anyone}'");
  }
});
