/** From a write by an agent until an open view shows it. */
import type { Browser } from "playwright-core";
import { signUp } from "../../support/browser/person.ts";
import { type Bench, fewer } from "../bench.ts";
import { Client } from "../client.ts";
import { atMost } from "../report.ts";
import { type Sight, Tab } from "./tab.ts";

const LIVE_MILLISECONDS_MAX = 1_000;
/**
 * Between two writes. What an open view reads anew, it reads once a second at most: each write finds it at rest, at any
 * moment of the time between two looks for changes.
 */
const PAUSE_MILLISECONDS = 1_500;
const PHASE_MILLISECONDS = 500;

interface Write {
  readonly write: () => Promise<unknown>;
  readonly sight: Sight;
  readonly undo?: () => Promise<unknown>;
}

export async function liveViews({ stack, rounds, report }: Bench, browser: Browser): Promise<void> {
  report.group("From sending a write to an open view of the console that shows it");
  const account = await signUp(stack);
  await stack.setTier(account.projectId, "enterprise");
  const client = new Client(stack.baseUrl, await stack.key(account.projectId));
  await client.write("live/open.txt", "made before\n");

  const measure = async (what: string, place: string, first: Sight, nextOf: (round: number) => Write) => {
    const tab = await Tab.open(browser, stack, account);
    const following = tab.follows();
    await tab.load(place, first);
    await following;
    const times = { shown: [] as number[], told: [] as number[], written: [] as number[] };
    // The first round is not counted.
    for (let round = -1; round < fewer(rounds, 5); round++) {
      const { write, sight, undo } = nextOf(round + 1);
      const now: string = JSON.parse(await client.send("GET", "/changes?after=now")).data.cursor;
      let sent = NaN;
      const sinceSent = () => performance.now() - sent;
      const told = client.send("GET", `/changes?wait=25&after=${now}`).then(sinceSent);
      const shown = tab.shows(sight).then(sinceSent);
      const pause = PAUSE_MILLISECONDS + PHASE_MILLISECONDS * Math.random();
      await new Promise((resolve) => setTimeout(resolve, pause));
      sent = performance.now();
      const written = await write().then(sinceSent);
      const [ofShown, ofTold] = [await shown, await told];
      await undo?.();
      if (round < 0) continue;
      times.shown.push(ofShown);
      times.told.push(ofTold);
      times.written.push(written);
    }
    await tab.close();
    const bar = atMost(LIVE_MILLISECONDS_MAX, "value");
    report.times(what, times.shown, "a client that waits at GET /changes is told", times.told, bar);
    report.spread(times.shown);
    report.times("  of which the write", times.written, "the same", times.told, null);
  };

  const row = { selector: "table.files a.row-link" };
  await measure("a new file, in an open folder", "files/live", { ...row, text: "open.txt" }, (round) => {
    const path = `live/made-${round}.txt`;
    return {
      write: () => client.write(path, "made now\n"),
      sight: { ...row, text: `made-${round}.txt` },
      undo: () => client.send("DELETE", `/files/${path}`),
    };
  });
  const text = { selector: ".cm-content" };
  await measure(
    "a new version, in an open file",
    "file/live/open.txt",
    { ...text, text: "made before" },
    (round) => ({
      write: () => client.overwrite("live/open.txt", `made in round ${round}.\n`),
      sight: { ...text, text: `round ${round}.` },
    }),
  );
}
