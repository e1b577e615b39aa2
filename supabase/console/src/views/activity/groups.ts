/** The writes of the activity in groups: those of one run, else those of one key in the same ten minutes. */
import type { Change } from "../../api/changes.ts";
import { ACTIVITY_GROUP_MILLISECONDS } from "../../limits.ts";

export interface Group {
  /** Stays the same while writes are added, so that an open group stays open. */
  readonly id: string;
  readonly runId: string | undefined;
  /** Newest first; at least one. */
  readonly entries: readonly [Change, ...Change[]];
}

/** `entries` are sorted, the newest first; each group stands where its newest entry was. */
export function groupsOf(entries: readonly Change[]): readonly Group[] {
  const groups = new Map<string, [Change, ...Change[]]>();
  for (const entry of entries) {
    const group = groups.get(idOf(entry));
    if (group === undefined) groups.set(idOf(entry), [entry]);
    else group.push(entry);
  }
  return [...groups].map(([id, entries]) => ({ id, runId: entries[0].runId, entries }));
}

/** Ten minutes of the clock, because a window that begins with the newest write would move with each write. */
function idOf({ runId, keyId, account, createdAt }: Change): string {
  if (runId !== undefined) return `run ${runId}`;
  return `${keyId ?? account?.id} ${Math.floor(Date.parse(createdAt) / ACTIVITY_GROUP_MILLISECONDS)}`;
}
