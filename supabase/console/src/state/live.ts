/**
 * Follows the change feed of the open project with one request at a time, while the tab is visible. Views receive each
 * version once, including the versions of this tab.
 */
import type { FileAt } from "../api/files.ts";
import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { isCode } from "../api/failure.ts";
import { type Change, followChanges } from "../api/changes.ts";
import {
  FOLLOW_FAILURES_PAUSE_MILLISECONDS,
  FOLLOW_FAILURES_PAUSE_MILLISECONDS_MAX,
  FOLLOW_PAUSE_MILLISECONDS,
  FOLLOW_READY_MILLISECONDS,
  FOLLOW_WAIT_SECONDS,
  LIVE_CHANGES_KEPT,
  MARK_MILLISECONDS,
  MARKS_MAX,
} from "../limits.ts";
import { isOffline } from "../session/connection.ts";
import { sleep } from "../sleep.ts";

export interface LiveChange extends Change {
  readonly projectId: string;
}

/** `changes` is null if there are too many or they are unknown; the views then reload. */
type Listener = (changes: readonly LiveChange[] | null) => void;

const listeners = new Set<Listener>();
/** The latest changes, oldest first, and the number of earlier ones that were dropped. */
let kept: readonly LiveChange[] = [];
let forgotten = 0;

/** The project whose views may load, because the feed will contain every later change. */
export const followedProject = signal<string | null>(null);

/** Calls `onChanges` with the changes of the project, oldest first. */
export function useLive(projectId: string, onChanges: Listener): void {
  const latest = useRef(onChanges);
  latest.current = onChanges;
  useEffect(() => {
    const listener: Listener = (changes) => {
      const own = changes?.filter((change) => change.projectId === projectId) ?? null;
      if (own === null || own.length > 0) latest.current(own);
    };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, [projectId]);
}

/** Returns a position among the changes, for `changesSince`. */
export function liveCount(): number {
  return forgotten + kept.length;
}

/** Returns the changes after a position. A load that began at the position may lack them. */
export function changesSince(projectId: string, count: number): readonly LiveChange[] {
  return kept.slice(Math.max(0, count - forgotten)).filter((change) => change.projectId === projectId);
}

/** Returns the change that created the version, if the feed has delivered it. */
export function knownChange({ projectId, path }: FileAt, version: number): LiveChange | undefined {
  return kept.findLast((change) =>
    change.projectId === projectId && change.path === path && change.version === version
  );
}

/** Follows the project until the caller calls the returned function. */
export function followProject(projectId: string): () => void {
  let cursor: string | null = null;
  let abort: AbortController | null = null;
  const ready = () => followedProject.value = projectId;
  // Views load after this time even if the service is slow or unreachable.
  const timer = setTimeout(ready, FOLLOW_READY_MILLISECONDS);
  const onVisibility = () => {
    if (document.visibilityState === "hidden") {
      abort?.abort();
      abort = null;
      ready();
    } else if (abort === null) {
      abort = new AbortController();
      const keep = (next: string | null) => {
        // Views that loaded before the feed had a cursor may lack changes.
        if (cursor === null && next !== null && followedProject.value === projectId) report(null);
        cursor = next;
        ready();
      };
      followFrom(projectId, cursor, keep, abort.signal).catch(() => {});
    }
  };
  document.addEventListener("visibilitychange", onVisibility);
  onVisibility();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisibility);
    abort?.abort();
    followedProject.value = null;
    kept = [];
    forgotten = 0;
  };
}

/** Runs until it is aborted. */
async function followFrom(
  projectId: string,
  start: string | null,
  keep: (cursor: string | null) => void,
  signal: AbortSignal,
): Promise<void> {
  let cursor = start;
  let failures = 0;
  while (!signal.aborted) {
    const asked = Date.now();
    try {
      const wait = cursor === null ? 0 : FOLLOW_WAIT_SECONDS;
      const page = await followChanges(projectId, cursor ?? "now", wait, signal);
      if (signal.aborted) return;
      const isFirst = cursor === null;
      // If there are more changes than one answer holds, the views reload, and the feed continues from now.
      cursor = page.hasMore ? null : page.cursor;
      keep(cursor);
      if (isFirst) continue;
      if (page.changes.length > 0 && !page.hasMore) {
        report(page.changes.map((change) => ({ ...change, projectId })));
      }
      // An immediate empty answer means that other tabs and agents hold all waiting slots.
      const isEarly = page.changes.length === 0 && Date.now() - asked < FOLLOW_FAILURES_PAUSE_MILLISECONDS;
      failures = isEarly ? failures + 1 : 0;
      await sleep(isEarly ? pauseAfter(failures) : FOLLOW_PAUSE_MILLISECONDS, signal);
    } catch (error) {
      if (signal.aborted) return;
      // The project was restored from a backup, so the cursor is no longer valid.
      if (isCode(error, "VALIDATION_ERROR")) keep(cursor = null);
      await sleep(pauseAfter(++failures), signal);
      await untilOnline(signal);
    }
  }
}

/** Doubles the pause with each failure. The random part keeps tabs from retrying at the same time. */
function pauseAfter(failures: number): number {
  const pause = FOLLOW_FAILURES_PAUSE_MILLISECONDS * 2 ** Math.min(failures - 1, 10);
  return Math.min(pause, FOLLOW_FAILURES_PAUSE_MILLISECONDS_MAX) * (0.75 + Math.random() / 4);
}

/** Waits while the connection is lost; `session/connection.ts` detects when it is back. */
async function untilOnline(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = effect(() => {
    if (!isOffline.value) resolve();
  });
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    await promise;
  } finally {
    stop();
    signal.removeEventListener("abort", onAbort);
  }
}

function report(changes: readonly LiveChange[] | null): void {
  if (changes !== null) {
    const all = [...kept, ...changes];
    kept = all.slice(-LIVE_CHANGES_KEPT);
    forgotten += all.length - kept.length;
    markChanged(changes);
  }
  for (const listener of listeners) listener(changes);
}

/** Rows marked as just changed: the version by file id. */
const marks = signal<ReadonlyMap<string, number>>(new Map());

function markChanged(changes: readonly Change[]): void {
  const next = new Map(marks.value);
  for (const { fileId, version } of changes.slice(-MARKS_MAX)) next.set(fileId, version);
  marks.value = next;
  setTimeout(() => {
    const rest = new Map(marks.value);
    for (const { fileId, version } of changes) if (rest.get(fileId) === version) rest.delete(fileId);
    marks.value = rest;
  }, MARK_MILLISECONDS);
}

/** Returns whether the file has just changed or, with a version, whether this version is its newest and is new. */
export function isMarked(fileId: string, version?: number): boolean {
  const marked = marks.value.get(fileId);
  return marked !== undefined && (version === undefined || version === marked);
}
