/** Unsaved changes. They survive navigation and an expired session, but not a reload of the page. */
import type { FileAt } from "../api/files.ts";
import { signal } from "@preact/signals";

export interface Draft {
  readonly text: string;
  /** The edited version and its entity tag. */
  readonly version: number;
  readonly etag: string;
}

export const drafts = signal<ReadonlyMap<string, Draft>>(new Map());

export function draftKey({ projectId, path }: FileAt): string {
  return `${projectId} ${path}`;
}

export function keepDraft(key: string, draft: Draft): void {
  drafts.value = new Map(drafts.value).set(key, draft);
}

export function discardDraft(key: string): void {
  const rest = new Map(drafts.value);
  if (rest.delete(key)) drafts.value = rest;
}

export function discardDrafts(): void {
  drafts.value = new Map();
}

globalThis.addEventListener("beforeunload", (event) => {
  if (drafts.value.size > 0) event.preventDefault();
});
