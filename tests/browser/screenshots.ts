/**
 * `deno task screenshots [DIR]`: takes the pictures of the documents from the running console. With a folder it takes those of
 * every view instead, at both widths and in both themes, to compare in a review.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { bundle } from "../../supabase/local/console/bundle.ts";
import { newPerson, type Person } from "../support/browser/person.ts";
import { launchChromium, SESSION_KEY } from "../support/browser/browser.ts";
import { App } from "../support/client/oauth.ts";
import { startService } from "../support/stack/service.ts";
import { fillWeek, FOLDER_SHOWN, REPORT, RUN } from "./week.ts";

const FOLDER = fileURLToPath(new URL("../../supabase/docs", import.meta.url));
const VIEWPORT = { width: 1280, height: 800 };
const PHONE_WIDTH = 390;
const CONSENT_VIEWPORT = { width: 640, height: 1060 };
/** Larger pictures would slow down the page that contains them. */
const PICTURE_BYTES_MAX = 200_000;
/** Every view by the name of its pictures: its address in the project. */
const VIEWS: Readonly<Record<string, string>> = {
  files: `files/${FOLDER_SHOWN}`,
  file: `file/${REPORT}`,
  edit: `file/${REPORT}?tab=edit`,
  history: `file/${REPORT}?tab=history`,
  compare: `file/${REPORT}?tab=compare`,
  missing: "file/nowhere.md",
  deleted: "deleted",
  search: "search?q=September",
  activity: "activity",
  runs: "runs",
  run: `run/${RUN}`,
  branches: "branches",
  branch: "branch/shorter-report",
  links: "links",
  connect: "connect",
  keys: "keys",
  settings: "settings",
};

const service = await startService();
const browser = await launchChromium();
try {
  await bundle();
  const account = await newPerson(service, "pro", "ada@example.com");
  await fillWeek(service, account);
  const [folder] = Deno.args;
  if (folder === undefined) await takeForDocuments(browser, account);
  else await takeAll(browser, account, folder);
} finally {
  await browser.close();
  await service.stop();
}

function contextOf(
  browser: Browser,
  account: Person,
  viewport: { readonly width: number; readonly height: number },
  colorScheme: "light" | "dark",
): Promise<BrowserContext> {
  const localStorage = [{ name: SESSION_KEY, value: account.session }];
  return browser.newContext({
    viewport,
    colorScheme,
    reducedMotion: "reduce",
    storageState: { cookies: [], origins: [{ origin: service.stack.supabaseUrl, localStorage }] },
  });
}

async function takeForDocuments(browser: Browser, account: Person): Promise<void> {
  const page = await (await contextOf(browser, account, VIEWPORT, "light")).newPage();
  const start = `${service.stack.supabaseUrl}/console/#/p/${account.projectId}`;
  await page.goto(`${start}/files/${FOLDER_SHOWN}`);
  await page.getByRole("link", { name: "report.md" }).waitFor();
  await page.getByRole("button", { name: "Close research", exact: true }).waitFor();
  // While the folder is on screen, an agent writes into it.
  await account.files.append(`${FOLDER_SHOWN}/run.log`, "06:02:12 step 6 done\n");
  await page.locator("tr.changed").waitFor();
  await take(page, "console-files.png");
  await page.goto(`${start}/run/${RUN}`);
  await page.getByRole("link", { name: `${FOLDER_SHOWN}/summary.md` }).waitFor();
  await take(page, "console-run.png");
  await page.goto(`${start}/file/${REPORT}?tab=history`);
  await page.getByRole("link", { name: "Version 1", exact: true }).waitFor();
  await page.getByRole("heading", { name: "Open questions" }).waitFor();
  await take(page, "console-file.png");
  await page.goto(`${start}/file/${REPORT}?tab=compare`);
  await page.getByRole("region", { name: /^Changes from version/ }).waitFor();
  await take(page, "console-diff.png");
  await openRequest(page);
  await take(page, "console-consent.png");
}

async function takeAll(browser: Browser, account: Person, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  await account.files.remove("inbox/question.txt");
  const branch = { name: "shorter-report", directory: FOLDER_SHOWN, title: "A shorter report" };
  await account.files.request("POST", "/branches", { body: branch });
  await account.files.write(`.branches/${branch.name}/summary.md`, "Prices fell again.\n");
  for (const width of [VIEWPORT.width, PHONE_WIDTH]) {
    for (const theme of ["light", "dark"] as const) {
      const context = await contextOf(browser, account, { ...VIEWPORT, width }, theme);
      for (const [name, place] of Object.entries(VIEWS)) {
        const page = await context.newPage();
        await page.goto(`${service.stack.supabaseUrl}/console/#/p/${account.projectId}/${place}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        // The feed is followed by one request that waits, so the network is never idle.
        await page.locator(".loading").first().waitFor({ state: "detached" });
        const picture = await page.screenshot({ animations: "disabled", caret: "hide", fullPage: true });
        await Deno.writeFile(join(folder, `${name}-${width}-${theme}.png`), picture);
        await page.close();
      }
      await context.close();
    }
  }
}

/** Opens the request of an app as claude.ai sends it, in a window that shows all of it. */
async function openRequest(page: Page): Promise<void> {
  const redirect_uri = "https://claude.ai/api/mcp/auth_callback";
  const app = await App.register(service, { client_name: "Claude", redirect_uris: [redirect_uri] });
  const { headers } = await app.authorize({ redirect_uri });
  await page.setViewportSize(CONSENT_VIEWPORT);
  await page.goto(headers.get("location") ?? "");
  await page.getByRole("button", { name: "Allow" }).and(page.locator(":enabled")).waitFor();
}

async function take(page: Page, name: string): Promise<void> {
  await page.evaluate("document.fonts.ready");
  const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
  if (picture.length > PICTURE_BYTES_MAX) throw new Error(`${name} has ${picture.length} bytes`);
  await Deno.writeFile(join(FOLDER, name), picture);
}
