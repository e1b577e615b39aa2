/** The keys of the open project, for the key list and for the names in histories. */
import { signal } from "@preact/signals";
import { type Key, listKeys, type NewKey } from "../api/projects.ts";
import type { Person } from "../api/changes.ts";
import { visible } from "../format.ts";
import { account } from "../session/session.ts";

const known = signal<{ readonly projectId: string; readonly keys: readonly Key[] } | null>(null);
let loading: { readonly projectId: string; readonly done: Promise<void> } | null = null;

/** Returns undefined until the keys are loaded. */
export function keysOf(projectId: string): readonly Key[] | undefined {
  return known.value?.projectId === projectId ? known.value.keys : undefined;
}

export async function loadKeys(projectId: string, signal?: AbortSignal): Promise<void> {
  known.value = { projectId, keys: await listKeys(projectId, signal) };
}

/** Loads the keys once per project. If that fails, histories show key ids instead of names. */
export async function ensureKeys(projectId: string): Promise<void> {
  if (keysOf(projectId) !== undefined) return;
  if (loading?.projectId !== projectId) {
    loading = { projectId, done: loadKeys(projectId).catch(() => {}) };
  }
  await loading.done;
  loading = null;
}

export function clearKeys(): void {
  known.value = null;
  made.value = null;
}

/** Whether it is the person who is signed in. */
export function isOneself({ id }: Person): boolean {
  return id === account.value?.id;
}

/** Returns the display name of another person; of oneself, "Console". */
export function personName(person: Person | undefined): string {
  return person === undefined || isOneself(person) ? "Console" : visible(person.email);
}

/** Returns the display name of the key or of the other person that wrote a version; of one's own work, "Console". */
export function writerName(projectId: string, keyId: string | null | undefined, writer?: Person): string {
  // A version list omits the field; an activity entry has null.
  if (keyId === null || keyId === undefined) return personName(writer);
  const key = keysOf(projectId)?.find(({ id }) => id === keyId);
  if (key === undefined) return `Key ${keyId.slice(0, 8)}`;
  return key.name === null || key.name === "" ? `${key.prefix}…` : visible(key.name);
}

/** The last key created on the page "Connect". It is only in this tab's memory, so a reload forgets it. */
const made = signal<{ readonly projectId: string; readonly key: NewKey } | null>(null);

export function madeKey(projectId: string): NewKey | undefined {
  return made.value?.projectId === projectId ? made.value.key : undefined;
}

export function keepMadeKey(projectId: string, key: NewKey): void {
  made.value = { projectId, key };
}
