/** The build of the console from nothing but the packages' cache, and what a first visit fetches of it. */
import type { Browser } from "playwright-core";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FIRST_LOAD_BYTES_MAX, measureLoad } from "../../support/browser/first_load.ts";
import { type Bench, fewer } from "../bench.ts";
import { timed } from "../measure.ts";
import { atMost } from "../report.ts";
import { SIGN_IN_SIGHT, Tab } from "./tab.ts";

const BUILD_MILLISECONDS_MAX = 15_000;
const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
/** What `deno task console` needs of the repository. */
const NEEDED = ["deno.json", "import_map.json", "deno.lock", "supabase"];
/** What has been made there. */
const MADE = ".temp";

export async function builds({ stack, rounds, report }: Bench, browser: Browser): Promise<void> {
  report.group("The build of the console, with its packages in Deno's cache");
  const times = { whole: [] as number[], floor: [] as number[] };
  for (let round = 0; round < fewer(rounds, 20); round++) {
    const clone = await Deno.makeTempDir({ prefix: "filestore-clone-" });
    try {
      for (const name of NEEDED) await copy(join(REPOSITORY, name), join(clone, name));
      times.whole.push(await timed(() => deno(["task", "--quiet", "console", "--local"], clone)));
      const work = join(clone, "supabase", MADE, "console");
      const vite = ["run", "-A", "--quiet", "npm:vite", "build", "--logLevel", "warn", "--outDir", "again"];
      times.floor.push(await timed(() => deno(vite, work)));
    } finally {
      await Deno.remove(clone, { recursive: true });
    }
  }
  const bar = atMost(BUILD_MILLISECONDS_MAX, "value");
  report.times("deno task console, in a fresh clone", times.whole, "Vite alone", times.floor, bar);
  report.spread(times.whole);

  const tab = await Tab.open(browser, stack, null);
  await tab.page.goto(tab.start);
  await tab.shows(SIGN_IN_SIGHT);
  await tab.page.waitForLoadState("networkidle");
  const { bytes, names } = await measureLoad(tab.start, tab.fetched);
  await tab.close();
  report.value("first load, gzip", bytes, "bytes", atMost(FIRST_LOAD_BYTES_MAX, "value"));
  report.value("  files", names.length, "", null);
}

async function copy(from: string, to: string): Promise<void> {
  if (!(await Deno.stat(from)).isDirectory) return await Deno.copyFile(from, to);
  await Deno.mkdir(to);
  for await (const { name } of Deno.readDir(from)) {
    if (name !== MADE) await copy(join(from, name), join(to, name));
  }
}

async function deno(args: readonly string[], cwd: string): Promise<void> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    env: { NODE_ENV: "production", NO_COLOR: "1" },
  });
  const { success, stderr } = await command.output();
  if (!success) throw new Error(`deno ${args[0]} fails: ${new TextDecoder().decode(stderr).slice(0, 2000)}`);
}
