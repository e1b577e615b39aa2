/** The keys of the open project: the key list shows them, histories name them. */
import { signal } from "@preact/signals";
import { listKeys } from "../api/projects.ts";
import type { Key } from "../api/records.ts";

const known = signal<{ readonly projectId: string; readonly keys: readonly Key[] } | null>(null);
let asked: { readonly projectId: string; readonly answer: Promise<void> } | null = null;

/** Undefined until they are loaded. */
export function keysOf(projectId: string): readonly Key[] | undefined {
  return known.value?.projectId === projectId ? known.value.keys : undefined;
}

/** Asks for the keys anew. */
export async function loadKeys(projectId: string, signal?: AbortSignal): Promise<void> {
  known.value = { projectId, keys: await listKeys(projectId, signal) };
}

/** Asks once a project; a list that cannot be had leaves the names of keys out. */
export async function ensureKeys(projectId: string): Promise<void> {
  if (keysOf(projectId) !== undefined) return;
  if (asked?.projectId !== projectId) {
    asked = { projectId, answer: loadKeys(projectId).catch(() => {}) };
  }
  await asked.answer;
  asked = null;
}

export function clearKeys(): void {
  known.value = null;
}

/** Who wrote a version, in words. */
export function writerName(projectId: string, keyId: string | null | undefined): string {
  // A version list leaves the field out where an activity entry says null.
  if (keyId === null || keyId === undefined) return "Console";
  const key = keysOf(projectId)?.find(({ id }) => id === keyId);
  if (key === undefined) return `Key ${keyId.slice(0, 8)}`;
  return key.name === null || key.name === "" ? `${key.prefix}…` : key.name;
}
