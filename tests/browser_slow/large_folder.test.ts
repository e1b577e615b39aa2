/** A folder of three thousand files: it loads page by page, with one request for each action of a person. */
import { assert, assertEquals } from "@std/assert";
import { populate } from "../bench/populate.ts";
import { browserSuite } from "../support/browser/browser.ts";
import { press, says } from "../support/browser/page_actions.ts";

const FILES = 3_000;
const FOLDER = "top-0/sub-00000";
const FILES_PER_PAGE = 100;

const { test } = await browserSuite();

test("folder of 3,000 files: paged, sorted and filtered, one request each and none per row", async (visit) => {
  const { page, step, open, openFollowing, service, calls, account: { projectId } } = visit;
  await populate(service.stack, [{ id: projectId }], { files: FILES, filesPerDirectory: FILES });
  const table = page.getByRole("table", { name: `Files in ${FOLDER}` });
  const link = (number: number) => table.getByRole("link", { name: nameOf(number) });
  // Reads the pager directly, because searching 2,000 rows for a text takes seconds.
  const shows = (range: string) =>
    page.waitForFunction(
      (range) => document.querySelector("nav.pager [role=status]")?.textContent === range,
      range,
    );
  const row = (number: number) => page.locator(`tr[data-key$="${nameOf(number)}"]`);
  let counted = 0;
  // A late request of one step is counted in the next one, so that none is missed.
  const during = async (work: () => Promise<void>) => {
    await work();
    const made = calls.slice(counted);
    counted = calls.length;
    return made.map((call) => decodeURIComponent(call));
  };
  // Opens another view and waits for it, so that the console drops the folder's names.
  const leave = async () => {
    await open("keys");
    await page.getByRole("heading", { name: "API keys" }).waitFor();
  };
  const list = `GET /files?limit=${FILES_PER_PAGE}&directory=${FOLDER}`;

  await step("it opens with its first page; the tree asks once for each folder on the way", async () => {
    const made = await during(async () => {
      await openFollowing(`files/${FOLDER}`);
      await link(99).waitFor();
      await says(page, "1–100 of 3,000");
      await page.getByRole("link", { name: "sub-00000" }).waitFor();
    });
    const first = ["GET /projects", "GET /files?limit=1&directory="];
    const ofFolder = ["GET /files?limit=1&directory=top-0", `${list}&sortBy=path&sortOrder=asc`];
    assertEquals(made.filter((call) => call.includes("directory=top-0")).sort(), ofFolder.toSorted());
    // Before the tab follows the feed, the tree may send its requests twice. The view of the keys, opened first, sends the
    // excluded requests.
    const asked = new Set(made.filter((call) => !call.startsWith("GET /project/apikeys")));
    assertEquals([...asked].sort(), [...first, ...ofFolder].sort());
    assertEquals(await table.getByRole("row").count(), FILES_PER_PAGE + 1, "rows, with the header");
  });
  await step("the rest comes as one scrolls, one request a page, by cursor", async () => {
    const asked = (number: number) => `${list}&sortBy=path&sortOrder=asc&after=${FOLDER}/${nameOf(number)}`;
    const made = await during(async () => {
      for (const end of [200, 300]) {
        await link(end - 101).scrollIntoViewIfNeeded();
        await says(page, `1–${end} of 3,000`);
      }
    });
    assertEquals(made, [asked(99), asked(199)]);
    assertEquals(await table.getByRole("row").count(), 3 * FILES_PER_PAGE + 1, "nothing went");
    assertEquals(await during(() => link(0).scrollIntoViewIfNeeded()), []);
  });
  await step("with the keyboard, too: after the last row comes the next one", async () => {
    const made = await during(async () => {
      await link(250).focus();
      await page.keyboard.press("End");
      await says(page, "1–400 of 3,000");
      await page.keyboard.press("ArrowDown");
      await link(300).and(page.locator(":focus")).waitFor();
    });
    assertEquals(made.length, 1);
  });
  await step("a page that is missing is asked for again by hand, and not by itself", async () => {
    const isNextPage = (url: URL) => url.searchParams.get("after")?.endsWith(nameOf(399)) ?? false;
    await page.route(isNextPage, (route) => route.fulfill({ status: 500, body: "{}" }));
    await link(399).scrollIntoViewIfNeeded();
    await page.getByRole("alert").getByRole("button", { name: "Try again" }).waitFor();
    await page.unroute(isNextPage);
    const made = await during(async () => {
      await press(page, "Try again");
      await says(page, "1–500 of 3,000");
    });
    const asked = `${list}&sortBy=path&sortOrder=asc&after=${FOLDER}/${nameOf(399)}`;
    assertEquals(made, [asked, asked], "once by scrolling, once by hand");
  });
  await step("a list ends after 2,000 files; another one has the next ones", async () => {
    for (let end = 600; end <= 2_000; end += FILES_PER_PAGE) {
      await page.evaluate(() => globalThis.scrollTo(0, document.body.scrollHeight));
      await shows(`1–${end.toLocaleString("en")} of 3,000`);
    }
    await row(1999).scrollIntoViewIfNeeded();
    await page.locator("nav.pager a").click();
    await shows("2,001–2,100 of 3,000");
    await page.goBack();
    await row(1999).waitFor();
    await open(`files/${FOLDER}`);
    await row(0).waitFor();
    // The requests of this step do not count in the next one.
    counted = calls.length;
  });
  await step("sorting is over all files, not over the page", async () => {
    const [largest] = await service.sql<{ path: string }>(
      "select path from filestore.files where project_id = $1 order by size desc, path desc limit 1",
      [projectId],
    );
    const made = await during(async () => {
      await table.getByRole("button", { name: "Size" }).click();
      await table.getByRole("columnheader", { name: "Size" }).and(page.locator("[aria-sort=ascending]"))
        .waitFor();
    });
    assertEquals(made, [`${list}&sortBy=size&sortOrder=asc&offset=0`]);
    const again = await during(async () => {
      await table.getByRole("button", { name: "Size" }).click();
      const first = table.getByRole("row").nth(1).getByRole("link");
      await first.and(page.getByTitle(largest?.path ?? "none", { exact: true })).waitFor();
    });
    assertEquals(again, [`${list}&sortBy=size&sortOrder=desc&offset=0`]);
  });
  await step("the filter finds a name of any page", async () => {
    const sorted = await during(async () => {
      await table.getByRole("button", { name: "Name" }).click();
      await link(0).waitFor();
    });
    assertEquals(sorted, [`${list}&sortBy=path&sortOrder=asc`]);
    const made = await during(async () => {
      await page.getByLabel("Filter by name").fill("FILE-0002777");
      await says(page, "1 file of 3,000 has “FILE-0002777” in the name.");
    });
    assertEquals(await table.getByRole("row").count(), 2, "the header and the file");
    assert(made.length <= FILES / FILES_PER_PAGE + 1, `${made.length} requests for all names`);
  });
  await step("deleting what the filter found takes it away, and asks for lists, not for rows", async () => {
    const made = await during(async () => {
      await press(page, `Delete ${nameOf(2777)}`);
      await says(page, `Deleted ${nameOf(2777)}.`);
      await link(2777).waitFor({ state: "detached" });
      await page.getByLabel("Filter by name").fill("");
      await says(page, "1–100 of 2,999");
    });
    assertEquals(made[0], `DELETE /files/${FOLDER}/${nameOf(2777)}`);
    assert(made.length <= 3 && made.slice(1).every((call) => call.startsWith(list)), made.join(", "));
  });
  await step("a name that begins with the filter is found before all are read", async () => {
    // Holds back all pages after the first.
    const isLater = (url: URL) => url.searchParams.get("after")?.endsWith(nameOf(99)) ?? false;
    await page.route(isLater, () => {});
    await leave();
    await open(`files/${FOLDER}?filter=file-0002999`);
    await link(2999).waitFor();
    await says(page, "Searching 2,999 names …");
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });
  await step(
    "where agents use the requests, the filter pauses, and never says that there is no such name",
    async () => {
      await page.route(`${service.baseUrl}/files?**`, async (route) => {
        const response = await route.fetch();
        const reset = String(Math.ceil(Date.now() / 1000) + 60);
        const headers = {
          "x-ratelimit-limit": "100",
          "x-ratelimit-remaining": "45",
          "x-ratelimit-reset": reset,
        };
        await route.fulfill({ response, headers: { ...response.headers(), ...headers } });
      });
      await leave();
      await open(`files/${FOLDER}?filter=02888`);
      await says(page, "Searched 1,000 of 2,999 names.");
      assertEquals(await page.getByText("No name contains").count(), 0);
      await press(page, "Search more");
      await says(page, "Searched 2,000 of 2,999 names.");
      await page.unrouteAll({ behavior: "wait" });
    },
  );
});

function nameOf(number: number): string {
  return `file-${String(number).padStart(7, "0")}.txt`;
}
