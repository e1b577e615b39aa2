/** Changes by agents appear without a reload: in lists, in the open file, beside the editor, at the end of a log. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page, Request } from "playwright-core";
import { populate } from "../bench/populate.ts";
import { browserSuite, isFollow, isFollowing, type Visit } from "../support/browser/browser.ts";
import { dialog, follow, press, says, shownText, typeAtEnd } from "../support/browser/page_actions.ts";
import { eventually } from "../support/eventually.ts";

const { test, service } = await browserSuite();

test("live: a folder takes in what is written, changed and deleted, without a request and with a mark", async (visit) => {
  const { page, part, step, openFollowing, calls, account: { files } } = visit;
  await files.write("a.txt", "a\n");
  await openFollowing("files");
  const row = (name: string) =>
    page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  await row("a.txt").waitFor();
  const before = calls.length;
  await step("a new file", async () => {
    await files.write("b.txt", "b\n");
    await row("b.txt").and(page.locator(".changed")).waitFor();
    await row("b.txt").getByText("has just changed").waitFor({ state: "attached" });
    const names = await page.getByRole("row").getByRole("link").allTextContents();
    assertEquals(names.filter((name) => name.endsWith(".txt")), ["a.txt", "b.txt"], "in their order");
  });
  await part("the mark fades only where motion is wanted", async () => {
    const animation = () =>
      page.evaluate(() => {
        const marked = document.querySelector("tr.changed");
        return marked === null ? "no mark" : getComputedStyle(marked).animationName;
      });
    await files.append("b.txt", "again\n");
    await row("b.txt").and(page.locator(".changed")).waitFor();
    assertEquals(await animation(), "none");
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await files.append("b.txt", "again\n");
    await row("b.txt").getByRole("cell", { name: "3", exact: true }).waitFor();
    assertEquals(await animation(), "changed");
    await page.emulateMedia({ reducedMotion: "reduce" });
  });
  await part("a new version of a file that is listed", async () => {
    await files.append("a.txt", "more\n");
    await row("a.txt").getByRole("cell", { name: "2", exact: true }).waitFor();
    await row("a.txt").getByRole("cell", { name: "7 B" }).waitFor();
  });
  await part("a folder, in the list and in the tree", async () => {
    await files.write("notes/deep/c.txt", "c\n");
    await page.getByRole("main").getByRole("link", { name: /^notes ?, folder$/ }).waitFor();
    await page.getByRole("navigation", { name: "Folders" }).getByRole("link", { name: "notes" }).waitFor();
  });
  await part("a deletion", async () => {
    await files.remove("b.txt");
    await row("b.txt").waitFor({ state: "detached" });
  });
  await part("and nothing of it was asked for", async () => {
    assertEquals(calls.slice(before), []);
    await eventually("the mark is gone", async () => await page.locator("tr.changed").count() === 0);
  });
  await part("a folder that has become empty goes with the next list", async () => {
    await files.remove("notes/deep/c.txt");
    await page.getByRole("main").getByRole("link", { name: /^notes ?, folder$/ }).waitFor({
      state: "detached",
    });
    assertEquals(calls.slice(before).map((call) => call.split("?")[0]), ["GET /files"]);
  });
});

test("live: a folder that was scrolled takes in what happens on any of its pages", async (visit) => {
  const { page, step, openFollowing, calls, service, account: { files, projectId } } = visit;
  await populate(service.stack, [{ id: projectId }], { files: 320, filesPerDirectory: 320 });
  const folder = "top-0/sub-00000";
  const name = (number: number) => `file-${String(number).padStart(7, "0")}.txt`;
  const row = (name: string) =>
    page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  await openFollowing(`files/${folder}`);
  for (const end of [200, 300]) {
    await row(name(end - 101)).scrollIntoViewIfNeeded();
    await says(page, `1–${end} of 320`);
  }
  await row(name(250)).scrollIntoViewIfNeeded();
  await page.waitForURL(/first=200/);
  const before = calls.length;
  await step("what an agent writes and deletes, without a request", async () => {
    await files.write(`${folder}/file-0000050a.txt`, "new");
    await says(page, "1–301 of 321");
    assertEquals(await row(name(50)).locator("+ tr").getByRole("link").innerText(), "file-0000050a.txt");
    await files.remove(`${folder}/${name(150)}`);
    await row(name(150)).waitFor({ state: "detached" });
    await says(page, "1–300 of 320");
    assertEquals(calls.slice(before), []);
  });
  await step("what the person deletes: one list is read again, and the rest stays as it is", async () => {
    await press(row(name(10)), `Delete ${name(10)}`);
    await says(page, `Deleted ${name(10)}.`);
    await row(name(10)).waitFor({ state: "detached" });
    await says(page, "1–299 of 319");
    await page.getByRole("button", { name: "Undo" }).click();
    await row(name(10)).waitFor();
    assertEquals(await row(name(10)).locator("+ tr").getByRole("link").innerText(), name(11));
    await says(page, "1–300 of 320");
  });
  await step("what happens on one page while another one is read again", async () => {
    const released = Promise.withResolvers<void>();
    const isCount = (url: URL) => url.searchParams.get("limit") === "1";
    await page.route(isCount, async (route) => {
      await released.promise;
      await route.continue();
    });
    await row(name(250)).scrollIntoViewIfNeeded();
    await page.waitForURL(/first=200/);
    await press(row(name(251)), `Delete ${name(251)}`);
    await says(page, "1–299 of 319");
    await files.overwrite(`${folder}/${name(60)}`, "changed");
    await row(name(60)).getByText("7 B", { exact: true }).waitFor();
    released.resolve();
    // The page in view has one more file, and the other page has the file written meanwhile.
    await says(page, "1–300 of 319");
    assertEquals(await row(name(60)).getByText("7 B", { exact: true }).count(), 1);
    await page.unroute(isCount);
  });
});

test("live: a sorted folder keeps its order, the filter knows what has come", async ({ page, part, open, account }) => {
  const { files } = account;
  for (const name of ["a", "b", "c"]) await files.write(`${name}.txt`, name);
  const names = () => page.getByRole("main").locator("a.row-link").allTextContents();
  await part("by time", async () => {
    await open("files?sort=updated_at&order=desc");
    await eventually("the list", async () => (await names()).join() === "c.txt,b.txt,a.txt");
    await files.append("a.txt", "more");
    await eventually("a.txt is first", async () => (await names()).join() === "a.txt,c.txt,b.txt");
  });
  await part("with a filter", async () => {
    await open("files?filter=new");
    await says(page, "No name contains “new”.");
    await files.write("new one.txt", "x");
    await page.getByRole("link", { name: "new one.txt" }).waitFor();
    assertEquals(await names(), ["new one.txt"]);
  });
});

test("live: the open file shows its new version where it is, and a deletion", async ({ page, step, open, account }) => {
  const { files } = account;
  const lines = Array.from({ length: 200 }, (_, index) => `line ${index}\n`).join("");
  await files.write("log.txt", lines);
  await open("file/log.txt");
  await shownText(page, "Content of log.txt");
  const code = page.locator(".code");
  await code.evaluate((box) => box.scrollTo(0, 900));
  await step("an append is shown, and the text stays where it was", async () => {
    const size = () => code.evaluate((box) => box.scrollHeight);
    const before = await size();
    await files.append("log.txt", "the last line\n");
    await eventually("the text is longer", async () => await size() > before);
    assertEquals(await code.evaluate((box) => box.scrollTop), 900);
    await code.evaluate((box) => box.setAttribute("data-same", "yes"));
    await files.append("log.txt", "one more line\n");
    await says(page, "version 3");
    await eventually("the text is there", async () => {
      await code.evaluate((box) => box.scrollTo(0, box.scrollHeight));
      return (await shownText(page, "Content of log.txt")).includes("one more line");
    });
    assertEquals(await code.getAttribute("data-same"), "yes", "the same view");
  });
  await step("the page reports a deletion", async () => {
    await files.remove("log.txt");
    await says(page, "This file is deleted.");
  });
});

test("live: the activity, the runs and the deleted files", async (visit) => {
  const { page, part, open, openFollowing, account: { files } } = visit;
  await files.write("a.txt", "a\n");
  await part("the activity has a write at its top, marked", async () => {
    await openFollowing("activity");
    const rows = page.getByRole("table", { name: "Latest writes" }).getByRole("row");
    await rows.nth(1).getByRole("link", { name: "a.txt" }).waitFor();
    await files.post({ path: "b.txt", content: "b" }, { "x-actor": "planner", "x-run-id": "r-1" });
    const first = rows.nth(1).and(page.locator(".changed"));
    await first.getByRole("link", { name: "b.txt" }).waitFor();
    await first.getByText("planner").waitFor();
  });
  await part("the runs", async () => {
    await open("runs");
    await page.getByRole("link", { name: "r-1" }).waitFor();
    await files.post({ path: "c.txt", content: "c" }, { "x-run-id": "r-2" });
    await page.getByRole("link", { name: "r-2" }).waitFor();
  });
  await part("the files of a run", async () => {
    await open("run/r-2");
    await page.getByRole("link", { name: "c.txt" }).waitFor();
    await files.post({ path: "d.txt", content: "d" }, { "x-run-id": "r-2" });
    await page.getByRole("link", { name: "d.txt" }).waitFor();
  });
  await part("the deleted files", async () => {
    await open("deleted");
    await says(page, "Nothing is deleted.");
    await files.remove("d.txt");
    await press(page, "Restore d.txt");
    await says(page, "Nothing is deleted.");
  });
  await part("a history", async () => {
    await open("file/c.txt?tab=history");
    await page.getByRole("link", { name: "Version 1", exact: true }).waitFor();
    await files.append("c.txt", "more");
    await page.getByRole("link", { name: "Version 2", exact: true }).waitFor();
  });
});

test("live: a tab has one connection, none while it is hidden, and goes on where it was", async (visit) => {
  const { page, context, step, openFollowing, calls, follows, account: { files, projectId } } = visit;
  await files.write("a.txt", "a\n");
  const waiting = pending(page);
  await openFollowing("files");
  await page.getByRole("link", { name: "a.txt" }).waitFor();
  await step("one request waits", async () => {
    await eventually("one", () => Promise.resolve(waiting.size === 1));
    assertEquals(follows.filter((call) => call.includes("after=now")).length, 1, "it begins at the present");
  });
  await step("hidden, it makes no call", async () => {
    await setVisibility(page, "hidden");
    await eventually("none", () => Promise.resolve(waiting.size === 0));
    const before = calls.length + follows.length;
    await files.write("b.txt", "b\n");
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    assertEquals(calls.length + follows.length, before);
    assertEquals(await page.getByRole("link", { name: "b.txt" }).count(), 0);
  });
  await step("seen again, it has missed nothing", async () => {
    const lists = calls.length;
    await setVisibility(page, "visible");
    await page.getByRole("link", { name: "b.txt" }).waitFor();
    assertEquals(calls.length, lists, "nothing was loaded again");
    assertEquals(follows.filter((call) => call.includes("after=now")).length, 1);
  });
  await step("a second tab follows by itself", async () => {
    const other = await context.newPage();
    const otherWaiting = pending(other);
    await other.goto(page.url());
    await other.getByRole("link", { name: "b.txt" }).waitFor();
    await eventually("one each", () => Promise.resolve(waiting.size === 1 && otherWaiting.size === 1));
    await files.write("c.txt", "c\n");
    for (const tab of [page, other]) await tab.getByRole("link", { name: "c.txt" }).waitFor();
    await press(other, "Delete c.txt");
    await page.getByRole("link", { name: "c.txt" }).waitFor({ state: "detached" });
    await other.close();
  });
  await step("another project is followed instead", async () => {
    const { id } = await newProject(visit);
    await page.goto(page.url().replace(projectId, id));
    await page.reload();
    await says(page, "There are no files yet.");
    await eventually("the new one", () => Promise.resolve(projectsOf(waiting).join() === id));
    await page.getByRole("combobox", { name: "Project" }).selectOption(projectId);
    await page.getByRole("link", { name: "b.txt" }).waitFor();
    await eventually("the old one", () => Promise.resolve(projectsOf(waiting).join() === projectId));
  });
  await step("signed out, nothing is followed", async () => {
    await press(page, "Sign out");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await eventually("none", () => Promise.resolve(waiting.size === 0));
  });
});

test("live: a service that is away is asked less and less often, and then from where it was", async (visit) => {
  const { page, open, follows, account: { files } } = visit;
  await files.write("a.txt", "a\n");
  await page.clock.install();
  await open("files");
  await page.getByRole("link", { name: "a.txt" }).waitFor();
  await isFollowing(visit);
  await page.clock.pauseAt(Date.now() + 60_000);
  const isFeed = (url: URL) => isFollow(`GET ${url.href.slice(service.baseUrl.length)}`);
  await page.route(
    isFeed,
    (route) => route.fulfill({ status: 503, headers: { "retry-after": "1" }, body: "" }),
  );
  await isFollowing(visit);
  await files.write("b.txt", "b\n");
  await page.getByRole("link", { name: "b.txt" }).waitFor();
  const start = follows.length;
  await page.clock.runFor(300);
  const asked = () => follows.length - start;
  await eventually("the first failure", () => Promise.resolve(asked() === 1));
  for (let failures = 1; failures <= 5; failures++) {
    // The pause is between three quarters of this and all of it.
    const pause = 1000 * 2 ** (failures - 1);
    await page.clock.runFor(pause * 0.6);
    await page.evaluate(() => 0);
    assertEquals(asked(), failures);
    await eventually(`failure ${failures + 1}`, async () => {
      await page.clock.runFor(pause / 10);
      return asked() === failures + 1;
    });
  }
  await files.write("c.txt", "c\n");
  await page.unroute(isFeed);
  await eventually("c.txt is there", async () => {
    await page.clock.runFor(5_000);
    return await page.getByRole("link", { name: "c.txt" }).count() === 1;
  });
  assertEquals(follows.filter((call) => call.includes("after=now")).length, 1, "from its cursor");
});

test("follow: what is appended arrives at the end, by its own bytes alone", async (visit) => {
  const { page, step, openFollowing, account: { files } } = visit;
  const ranges: string[] = [];
  page.on("request", (request) => {
    const { range } = request.headers();
    if (range !== undefined) ranges.push(range);
  });
  const many = Array.from({ length: 9_000 }, (_, index) => `line ${index} ü\n`).join("");
  const size = new TextEncoder().encode(many).length;
  await files.write("log.txt", many);
  await openFollowing("file/log.txt");
  await press(page, "Follow");
  const end = page.getByRole("log", { name: "End of log.txt" });
  const isAtEnd = () => end.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight <= 8);
  await step("it begins with the end, at a whole line", async () => {
    await end.getByText("line 8999 ü").waitFor();
    await says(page, "Only the end is shown.");
    assert(await isAtEnd());
    assert(/^line \d+ ü\n/.test(await end.innerText()));
    assertEquals(ranges, [`bytes=${size - 65_536}-${size - 1}`]);
    assertStringIncludes(page.url(), "follow=true");
  });
  await step("an append is read by its range, and stays in view", async () => {
    await files.append("log.txt", "first\n");
    await end.getByText("first").waitFor();
    assertEquals(ranges.slice(1), [`bytes=${size}-${size + 5}`]);
    assert(await isAtEnd());
  });
  await step("a character that comes in two appends is one", async () => {
    const [one = 0, two = 0] = new TextEncoder().encode("é");
    await files.append("log.txt", btoa(String.fromCharCode(one)), { isBase64: true });
    await says(page, "Following version 3");
    await files.append("log.txt", btoa(String.fromCharCode(two, 0x0a)), { isBase64: true });
    await end.getByText("é").waitFor();
    assertEquals(ranges.slice(2), [`bytes=${size + 6}-${size + 6}`, `bytes=${size + 7}-${size + 8}`]);
  });
  await step("a reader who has scrolled up stays there, and a button leads to the end", async () => {
    await end.evaluate((box) => box.scrollTo(0, 0));
    const button = page.getByRole("button", { name: "To the end" });
    await button.and(page.locator(":enabled")).waitFor();
    await files.append("log.txt", "unseen\n");
    await eventually("it is there", async () => (await end.innerText()).includes("unseen"));
    assertEquals(await end.evaluate((box) => box.scrollTop), 0);
    await button.click();
    assert(await isAtEnd());
  });
  await step("an overwritten text is read again, and the page reports it", async () => {
    await files.overwrite("log.txt", "short\n");
    await says(page, "was not an append: the whole text was read again.");
    assertEquals(await end.innerText(), "short\n");
  });
  await step("switched off, the whole text is back", async () => {
    await press(page, "Follow");
    assertEquals(await shownText(page, "Content of log.txt"), "short\n");
  });
});

test("editor: a newer version is reported with its writer, and the user chooses what to do", async (visit) => {
  const { page, step, openFollowing, account: { files } } = visit;
  await files.write("plan.md", "one\n");
  const append = (text: string) =>
    files.put("append", "plan.md", { content: text }, { "x-actor": "planner/2.1" });
  await openFollowing("file/plan.md?tab=edit");
  await page.getByRole("textbox", { name: "Edit plan.md" }).waitFor();
  await step("without a draft, it is a button away", async () => {
    await append("two\n");
    await says(page, /^Version 2 was written by planner\/2\.1 \(.+\); you are viewing version 1\.$/);
    await press(page, "Edit version 2");
    await says(page, "Editing version 2.");
    assertEquals(await shownText(page, "Edit plan.md"), "one\ntwo\n");
  });
  await step("with a draft, nothing of it is lost", async () => {
    await typeAtEnd(page, "plan.md", "mine\n");
    await append("three\n");
    await says(page, /^Version 3 was written by planner.*; your draft is based on version 2\.$/);
    assertEquals(await shownText(page, "Edit plan.md"), "one\ntwo\nmine\n");
    await press(page, "Keep editing");
    await page.getByText(/^Version 3 was written/).waitFor({ state: "hidden" });
    await append("four\n");
    await says(page, /^Version 4 was written/);
    await press(page, "Compare and choose");
    const choice = dialog(page, "The file has changed");
    await choice.getByLabel("Version 4", { exact: true }).waitFor();
    await press(choice, "Keep editing");
    await says(page, "Unsaved changes.");
  });
  await step("a deletion does not close it", async () => {
    await files.remove("plan.md");
    await says(page, /^The file was deleted by .*; your draft is based on version 2\.$/);
    assertEquals(await shownText(page, "Edit plan.md"), "one\ntwo\nmine\n");
    await press(page, "Restore version 4");
    await says(page, /^Version 6 was written by Console; your draft is based on version 2\.$/);
  });
  await step("the draft can be given up for the newest version", async () => {
    await press(page, "Discard my draft, edit version 6");
    await says(page, "No changes yet. Editing version 6.");
    assertEquals(await shownText(page, "Edit plan.md"), "one\ntwo\nthree\nfour\n");
  });
  await step("what one saves oneself is no news", async () => {
    await typeAtEnd(page, "plan.md", "mine\n");
    // Neither the feed nor a request delivers the version in time: the page knows it from the answer to the save.
    const isTelling = (url: URL) => /\/changes$/.test(url.pathname) || url.searchParams.has("metadata");
    const [isHeld, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route(isTelling, async (route) => {
      isHeld.resolve();
      await told.promise;
      await route.continue();
    });
    // This ends the waiting request; the next one is held.
    await files.write("other.md", "\n");
    await isHeld.promise;
    await press(page, "Save");
    await says(page, "Saved as version 7.");
    await follow(page, "Edit");
    await says(page, "No changes yet. Editing version 7.");
    told.resolve();
    await files.append("plan.md", "five\n");
    await says(page, /^Version 8 was written/);
    assertEquals(await page.getByText(/was written/).count(), 1);
  });
});

/** Returns the unanswered requests of a page that follow the feed. */
function pending(page: Page): ReadonlySet<Request> {
  const requests = new Set<Request>();
  const call = (request: Request) => `${request.method()} ${request.url().slice(service.baseUrl.length)}`;
  page.on("request", (request) => isFollow(call(request)) && requests.add(request));
  for (const event of ["requestfinished", "requestfailed"] as const) {
    page.on(event as "requestfinished", (request) => void requests.delete(request));
  }
  return requests;
}

function projectsOf(requests: ReadonlySet<Request>): string[] {
  return [...requests].map((request) => request.headers()["x-project-id"] ?? "");
}

/** Simulates that the person switches to another tab, or back to this one. */
async function setVisibility(page: Page, state: "visible" | "hidden"): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => value });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
}

async function newProject({ account }: Visit): Promise<{ readonly id: string }> {
  const { access_token } = JSON.parse(account.session);
  const answer = await fetch(`${service.baseUrl}/projects`, {
    method: "POST",
    headers: { authorization: `Bearer ${access_token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "second" }),
  });
  return (await answer.json()).data;
}
