/**
 * A page of the project's writes that match the filters, newest first. The service examines a bounded number of writes per
 * request. If few match, a page takes several requests, and loading pauses after ACTIVITY_REQUESTS_MAX.
 */
import { useEffect, useState } from "preact/hooks";
import { type Change, type ChangeFilters, listChangesBefore } from "../../api/changes.ts";
import { isAbort } from "../../api/failure.ts";
import {
  ACTIVITY_ENTRIES,
  ACTIVITY_ENTRIES_MAX,
  ACTIVITY_EXAMINED,
  ACTIVITY_REQUESTS_MAX,
} from "../../limits.ts";
import { recoveries } from "../../session/connection.ts";
import { changesSince, type LiveChange, liveCount, useLive } from "../../state/live.ts";
import { usePacedCall } from "../../state/paced.ts";
import type { ActivityPlace } from "../../state/router.ts";

export interface Activity {
  /** Newest first. */
  readonly entries: readonly Change[];
  /** Where the next page begins; null at the end. */
  readonly next: string | null;
  /** The largest number of writes that may have been examined. */
  readonly examined: number;
}

/** A commit's time can precede its place in the feed by this much. */
const DISORDER_MILLISECONDS = 60_000;

export function useActivity(place: ActivityPlace) {
  const { projectId } = place;
  const key = JSON.stringify(place);
  const [shown, setShown] = useState<{ readonly key: string; readonly activity: Activity } | null>(null);
  const [error, setError] = useState<unknown>(undefined);
  const [isRunning, setRunning] = useState(true);
  const [run, setRun] = useState({ count: 0, continues: false });
  const known = shown?.key === key ? shown.activity : null;
  useEffect(() => {
    const abort = new AbortController();
    const show = (activity: Activity) => setShown({ key, activity });
    setRunning(true);
    setError(undefined);
    readEntries(place, run.continues ? known : null, show, abort.signal).then(
      () => abort.signal.aborted || setRunning(false),
      (problem) => {
        if (abort.signal.aborted || isAbort(problem)) return;
        setRunning(false);
        setError(problem);
      },
    );
    return () => abort.abort();
  }, [key, run, recoveries.value]);
  const reload = () => setRun(({ count }) => ({ count: count + 1, continues: false }));
  const refresh = usePacedCall(projectId, reload);
  useLive(projectId, (changes) => {
    if (!isOfNow(place)) return;
    if (changes === null) return refresh();
    setShown((before) =>
      before?.key === key ? { key, activity: withNewer(before.activity, changes, place) } : before
    );
  });
  return {
    activity: known,
    error,
    isRunning,
    reload,
    readFurther: () => setRun(({ count }) => ({ count: count + 1, continues: true })),
  };
}

/** Whether new writes belong on the page. */
function isOfNow({ before, until }: ActivityPlace): boolean {
  return before === undefined && until === undefined;
}

/** Reads from `start` until the page is full, the feed has ended, or ACTIVITY_REQUESTS_MAX requests were sent. */
async function readEntries(
  place: ActivityPlace,
  start: Activity | null,
  show: (activity: Activity) => void,
  signal: AbortSignal,
): Promise<void> {
  const { projectId, before, until } = place;
  const count = liveCount();
  const since = place.since === undefined ? -Infinity : Date.parse(place.since);
  const { actor, keyId, run, directory, operation } = place;
  const filters: ChangeFilters = { actor, keyId, run, directory, operation };
  const isFiltered = Object.values(filters).some((filter) => filter !== undefined);
  const first = before ?? (until === undefined ? "now" : new Date(until).toISOString());
  let activity = start ?? { entries: [], next: first, examined: 0 };
  const goal = activity.entries.length +
    (start === null ? ACTIVITY_ENTRIES : Math.max(1, ACTIVITY_ENTRIES - activity.entries.length));
  for (let requests = 0; requests < ACTIVITY_REQUESTS_MAX && activity.next !== null; requests++) {
    const limit = goal - activity.entries.length;
    if (limit <= 0) return;
    const page = await listChangesBefore(projectId, { ...filters, before: activity.next, limit }, signal);
    signal.throwIfAborted();
    const isPast = page.changes.some(({ createdAt }) =>
      Date.parse(createdAt) < since - DISORDER_MILLISECONDS
    );
    activity = {
      entries: [
        ...activity.entries,
        ...page.changes.filter(({ createdAt }) => Date.parse(createdAt) >= since),
      ],
      next: page.hasMore && !isPast ? page.cursor : null,
      examined: activity.examined + (isFiltered ? ACTIVITY_EXAMINED : page.changes.length),
    };
    show(isOfNow(place) ? withNewer(activity, changesSince(projectId, count), place) : activity);
  }
}

/** Puts new changes at the beginning of the page, except those it already contains. */
function withNewer(activity: Activity, changes: readonly LiveChange[], place: ActivityPlace): Activity {
  const known = new Set(activity.entries.map(({ fileId, version }) => `${fileId} ${version}`));
  const newer = changes.filter((change) =>
    !known.has(`${change.fileId} ${change.version}`) && passes(change, place)
  );
  if (newer.length === 0) return activity;
  const all = [...newer.toReversed(), ...activity.entries];
  const entries = all.slice(0, ACTIVITY_ENTRIES_MAX);
  const isCut = entries.length < all.length;
  return { ...activity, entries, next: isCut ? entries.at(-1)?.cursor ?? null : activity.next };
}

function passes({ actor, keyId, runId, path = "", operation }: Change, place: ActivityPlace): boolean {
  return (place.actor ?? actor) === actor && (place.keyId ?? keyId) === keyId &&
    (place.run ?? runId) === runId &&
    (place.operation ?? operation) === operation &&
    (place.directory === undefined || path.startsWith(`${place.directory}/`));
}
