/** The key that was made on the page "Connect" last, in the memory of this tab only: a reload forgets it. */
import { signal } from "@preact/signals";
import type { NewKey } from "../api/records.ts";

const made = signal<{ readonly projectId: string; readonly key: NewKey } | null>(null);

export function madeKey(projectId: string): NewKey | undefined {
  return made.value?.projectId === projectId ? made.value.key : undefined;
}

export function keepMadeKey(projectId: string, key: NewKey): void {
  made.value = { projectId, key };
}

export function clearMadeKey(): void {
  made.value = null;
}
