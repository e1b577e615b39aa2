/**
 * `deno task screenshots`: creates the documents' pictures from the running console with realistic files. For a review, it
 * also takes every main view at the width of a desk and of a phone, into `supabase/.temp/screenshots`.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { bundle } from "../../supabase/local/console/bundle.ts";
import { newPerson, type Person } from "../support/browser/person.ts";
import { launchChromium, SESSION_KEY } from "../support/browser/browser.ts";
import { App } from "../support/client/oauth.ts";
import { startService } from "../support/stack/service.ts";

const FOLDER = fileURLToPath(new URL("../../supabase/docs", import.meta.url));
const VIEWPORT = { width: 1280, height: 800 };
const CONSENT_VIEWPORT = { width: 640, height: 1060 };
const REVIEWED = fileURLToPath(new URL("../../supabase/.temp/screenshots", import.meta.url));
const PHONE_WIDTH = 390;
/** Larger pictures would slow down the page that contains them. */
const PICTURE_BYTES_MAX = 200_000;
const REPORT = "research/battery-prices/report.md";
const FOLDER_SHOWN = "research/battery-prices";
const RUN = "weekly-report-47";

const REPORT_FIRST = `# Battery prices, third quarter

Prices fell for the third quarter in a row. The main reason is lithium carbonate.

## Figures

| month     | price per kWh |
| --------- | ------------- |
| July      | 112 $         |
| August    | 109 $         |
| September | 108 $         |

## Open questions

- Is the September figure final?
- Which share do stationary batteries have?
`;

const CHANGES: readonly (readonly [before: string, after: string])[] = [
  [
    "The main reason is lithium carbonate.",
    "Lithium carbonate explains two thirds of it; the rest is\novercapacity in cell production.",
  ],
  ["| September | 108 $         |", "| September | 106 $         |"],
  ["- Is the September figure final?\n", ""],
];

const OTHERS: Readonly<Record<string, string>> = {
  "research/battery-prices/sources.json": JSON.stringify({
    sources: Array.from({ length: 40 }, (_, n) => `source ${n}`),
  }),
  "research/battery-prices/prices.csv": "month,price\n".padEnd(5_200, "2026-07,112\n"),
  "research/battery-prices/notes.md": "- ask for the August revision\n".repeat(20),
  "research/battery-prices/chart.svg": `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="360"/>\n`
    .repeat(12),
  "research/battery-prices/clean_prices.py": "import csv\n".repeat(90),
  "research/battery-prices/run.log": "fetched 40 sources\n".repeat(2_400),
  "research/battery-prices/raw/july.html": "<p>112</p>\n",
  "research/battery-prices/drafts/outline.md": "# Outline\n",
  "research/solar/plan.md": "# Plan\n",
  "research/wind/plan.md": "# Plan\n",
  "agents/writer/memory.md": "- short sentences\n",
  "agents/editor/memory.md": "- figures need a source\n",
  "inbox/question.txt": "What happened in September?\n",
};

const service = await startService();
const browser = await launchChromium();
try {
  await bundle();
  const account = await newPerson(service, "pro", "ada@example.com");
  await fillProject(account);
  const { supabaseUrl } = service.stack;
  const context = await browser.newContext({
    viewport: VIEWPORT,
    colorScheme: "light",
    reducedMotion: "reduce",
    storageState: {
      cookies: [],
      origins: [{ origin: supabaseUrl, localStorage: [{ name: SESSION_KEY, value: account.session }] }],
    },
  });
  const page = await context.newPage();
  const start = `${supabaseUrl}/console/#/p/${account.projectId}`;
  await page.goto(`${start}/files/${FOLDER_SHOWN}`);
  await page.getByRole("link", { name: "report.md" }).waitFor();
  await page.getByRole("button", { name: "Close research", exact: true }).waitFor();
  // While the folder is on screen, an agent writes into it.
  await account.files.append(`${FOLDER_SHOWN}/run.log`, "step 6 done\n");
  await page.locator("tr.changed").waitFor();
  await take(page, "console-files.png");
  await page.goto(`${start}/run/${RUN}`);
  await page.getByRole("link", { name: `${FOLDER_SHOWN}/summary.md` }).waitFor();
  await take(page, "console-run.png");
  await page.goto(`${start}/file/${REPORT}?tab=compare`);
  await page.getByRole("region", { name: "Changes from version 1 to 2" }).waitFor();
  await take(page, "console-diff.png");
  await takeViews(page, start);
  await openRequest(page);
  await take(page, "console-consent.png");
} finally {
  await browser.close();
  await service.stop();
}

async function fillProject({ files, projectId }: Person): Promise<void> {
  for (const [path, content] of Object.entries(OTHERS)) await files.write(path, content);
  for (let entry = 0; entry < 6; entry++) {
    await files.append(`${FOLDER_SHOWN}/run.log`, `step ${entry} done\n`);
  }
  await files.write(REPORT, REPORT_FIRST);
  const edits = CHANGES.map(([oldString, newString]) => ({ oldString, newString }));
  const headers = {
    "x-run-id": RUN,
    "x-actor": "planner/2.1",
    "x-change-note": "the revised September figure",
  };
  const write = (path: string, content: string) =>
    files.request("POST", "/files", { body: { path: `${FOLDER_SHOWN}/${path}`, content }, headers });
  await files.request("PUT", `/files/edit/${REPORT}`, { body: { edits }, headers });
  await write("prices.csv", "month,price\n".padEnd(5_200, "2026-07,111\n"));
  await write("summary.md", "Prices fell for the third quarter in a row.\n");
  await files.request("PUT", `/files/append/${FOLDER_SHOWN}/notes.md`, {
    body: { content: "- September is final\n" },
    headers,
  });
  await service.sql("update filestore.projects set name = 'Market research' where id = $1", [projectId]);
  // Spreads the files over several days; otherwise all would be of the same second.
  await service.sql(
    `update filestore.files set updated_at = updated_at - interval '47 minutes' * length(path) ^ 2 / 300
     where project_id = $1`,
    [projectId],
  );
}

async function takeViews(page: Page, start: string): Promise<void> {
  const places = {
    folder: `files/${FOLDER_SHOWN}`,
    file: `file/${REPORT}`,
    history: `file/${REPORT}?tab=history`,
    comparison: `file/${REPORT}?tab=compare`,
    log: `file/${FOLDER_SHOWN}/run.log`,
    table: `file/${FOLDER_SHOWN}/prices.csv`,
    editor: `file/${REPORT}?tab=edit`,
    deleted: "deleted",
    activity: "activity",
    runs: "runs",
    run: `run/${RUN}`,
    branches: "branches",
    links: "links",
    connect: "connect",
    keys: "keys",
    search: "search?q=September",
    settings: "settings",
  };
  await Deno.mkdir(REVIEWED, { recursive: true });
  for (const width of [VIEWPORT.width, PHONE_WIDTH]) {
    await page.setViewportSize({ ...VIEWPORT, width });
    for (const [name, place] of Object.entries(places)) {
      await page.goto(`${start}/${place}`);
      await page.getByRole("main").getByRole("heading").first().waitFor();
      // The feed stays open, so the network is never idle: a view is ready when nothing says that it loads.
      await page.getByText(/^Loading /).first().waitFor({ state: "detached" });
      await page.screenshot({ path: join(REVIEWED, `${name}-${width}.png`), animations: "disabled" });
    }
  }
  await page.setViewportSize(VIEWPORT);
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
