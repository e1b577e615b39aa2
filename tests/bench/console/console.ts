/** The console as a person has it before them, in Chromium, against the bars of each view. */
import type { Browser } from "playwright-core";
import { bundle } from "../../../supabase/local/console/bundle.ts";
import { launchChromium } from "../../support/browser/browser.ts";
import { signUp } from "../../support/browser/person.ts";
import { type Bench, fewer } from "../bench.ts";
import { Client } from "../client.ts";
import { median } from "../measure.ts";
import { populate } from "../populate.ts";
import { atMost } from "../report.ts";
import { builds } from "./builds.ts";
import { liveViews } from "./live_views.ts";
import { SIGN_IN_SIGHT, Tab } from "./tab.ts";

const FOLDER_FILES = 5_000;
const FOLDER = "top-0/sub-00000";
const FILES_PER_PAGE = 100;
const FOLDER_MILLISECONDS_MAX = 1_000;
const RUN = "nightly-1000";
const RUN_FILES = 1_000;
const RUN_MILLISECONDS_MAX = 1_500;
const FILES_PER_BATCH = 100;

/** What loading the console costs before anything is asked of the service: the floor of loading it at a view. */
const SIGN_IN = "the sign-in view, loaded likewise";

export async function consoleViews(bench: Bench): Promise<void> {
  await bundle();
  const browser = await launchChromium();
  try {
    await liveViews(bench, browser);
    await largeFolder(bench, browser);
    await largeRun(bench, browser);
    await builds(bench, browser);
  } finally {
    await browser.close();
  }
}

async function largeFolder({ stack, rounds, report }: Bench, browser: Browser): Promise<void> {
  report.group(`A folder of ${FOLDER_FILES} files in the console, in a project of the tier free`);
  // Each round begins with an empty window, and with nothing cached.
  const accounts = await Promise.all(Array.from({ length: fewer(rounds, 20) + 1 }, () => signUp(stack)));
  for (const { projectId } of accounts) await stack.setTier(projectId, "free");
  const projects = accounts.map(({ projectId }) => ({ id: projectId }));
  await populate(stack, projects, { files: FOLDER_FILES, filesPerDirectory: FOLDER_FILES });
  const list = `/files?limit=${FILES_PER_PAGE}&directory=${
    encodeURIComponent(FOLDER)
  }&sortBy=path&sortOrder=asc`;
  const rows = { selector: "table.files tbody tr", count: FILES_PER_PAGE };
  const times = {
    empty: [] as number[],
    loaded: [] as number[],
    shown: [] as number[],
    turned: [] as number[],
    toEnd: [] as number[],
    floor: [] as number[],
  };
  const requests = { first: 0, end: 0, refused: 0 };
  for (const [round, account] of accounts.entries()) {
    const empty = await loadSignIn(browser, stack);
    const tab = await Tab.open(browser, stack, account);
    const loaded = await tab.load(`files/${FOLDER}`, { ...rows, text: nameOf(FILES_PER_PAGE - 1) });
    await tab.shows({ selector: "nav, aside", text: "sub-00000" });
    const first = tab.calls.length;
    const turned: number[] = [];
    for (let end = 2 * FILES_PER_PAGE; end <= FOLDER_FILES; end += FILES_PER_PAGE) {
      const started = performance.now();
      await tab.page.evaluate(() => globalThis.scrollTo(0, document.body.scrollHeight));
      await tab.shows({ ...rows, count: end });
      turned.push(performance.now() - started);
    }
    requests.first = Math.max(requests.first, first);
    requests.end = Math.max(requests.end, tab.calls.length);
    await tab.goTo("search", { selector: "h1", text: "Search" });
    const shown = await tab.goTo(`files/${FOLDER}`, { ...rows, text: nameOf(FILES_PER_PAGE - 1) });
    const floor = await tab.floorOf(list);
    requests.refused += tab.refused;
    await tab.close();
    // The first round fills the caches of the stack.
    if (round === 0) continue;
    times.empty.push(empty);
    times.loaded.push(loaded);
    times.shown.push(shown);
    times.turned.push(median(turned));
    times.toEnd.push(turned.reduce((sum, one) => sum + one, 0));
    times.floor.push(floor);
  }
  const { loaded, empty, shown, turned, toEnd, floor } = times;
  const floorName = "the same page of the list, fetched by the page alone";
  const bar = atMost(FOLDER_MILLISECONDS_MAX, "value");
  report.times("the first screen, loading the console", loaded, SIGN_IN, empty, bar);
  report.spread(loaded);
  report.times("the first screen, from another view", shown, floorName, floor, bar);
  report.spread(shown);
  report.times("each next page of 100, scrolled to", turned, floorName, floor, bar);
  report.spread(turned);
  report.value("all of the other pages, to the end", median(toEnd), "ms", null);
  const window = await stack.sql<{ requests_per_minute: number }>(
    "select requests_per_minute from filestore.tiers where name = 'free'",
  );
  report.value("requests until the first screen", requests.first, "", null);
  report.value("requests to the end", requests.end, "", atMost(window[0]?.requests_per_minute ?? 0, "value"));
  report.value("requests that were refused", requests.refused, "", atMost(0, "value"));
}

async function loadSignIn(browser: Browser, stack: Bench["stack"]): Promise<number> {
  const tab = await Tab.open(browser, stack, null);
  const time = await tab.load("files", SIGN_IN_SIGHT);
  await tab.close();
  return time;
}

function nameOf(number: number): string {
  return `file-${String(number).padStart(7, "0")}.txt`;
}

async function largeRun({ stack, rounds, report }: Bench, browser: Browser): Promise<void> {
  report.group(`A run of ${RUN_FILES} files in the console`);
  const account = await signUp(stack);
  await stack.setTier(account.projectId, "enterprise");
  const client = new Client(stack.baseUrl, await stack.key(account.projectId));
  const path = (number: number) => `out/${String(number).padStart(4, "0")}.md`;
  for (let start = 0; start < RUN_FILES; start += FILES_PER_BATCH) {
    const operations = Array.from(
      { length: FILES_PER_BATCH },
      (_, index) => ({ op: "write", path: path(start + index), content: "made by the run\n" }),
    );
    await client.send("POST", "/batch", { operations }, { "x-run-id": RUN });
  }
  const rows = { selector: "table.list tbody tr", count: RUN_FILES, text: path(RUN_FILES - 1) };
  const times = {
    empty: [] as number[],
    loaded: [] as number[],
    shown: [] as number[],
    floor: [] as number[],
  };
  for (let round = -1; round < fewer(rounds, 10); round++) {
    const empty = await loadSignIn(browser, stack);
    const tab = await Tab.open(browser, stack, account);
    const loaded = await tab.load(`run/${RUN}`, rows);
    await tab.goTo("search", { selector: "h1", text: "Search" });
    const shown = await tab.goTo(`run/${RUN}`, rows);
    const floor = await tab.floorOf(`/runs/${RUN}`);
    await tab.close();
    if (round < 0) continue;
    times.empty.push(empty);
    times.loaded.push(loaded);
    times.shown.push(shown);
    times.floor.push(floor);
  }
  const floorName = "the run, fetched by the page alone";
  const bar = atMost(RUN_MILLISECONDS_MAX, "value");
  report.times("its files, loading the console", times.loaded, SIGN_IN, times.empty, bar);
  report.spread(times.loaded);
  report.times("its files, from another view", times.shown, floorName, times.floor, bar);
  report.spread(times.shown);
}
