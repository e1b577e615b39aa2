/** What becomes unreadable for good. */
import type { Idempotency, Preconditions } from "./commit.ts";

/** A file with all of its versions; preconditions as of a commit. */
export interface Purge extends Preconditions {
  readonly path: string;
  readonly commitId: string;
  readonly idempotency: Idempotency | undefined;
}

/** Versions whose content goes. */
export interface Redaction {
  readonly path: string;
  readonly versions: readonly number[];
  /** Takes the place of their notes. */
  readonly note: string | undefined;
}

/** What a redaction erased, and some versions that the key may still read and that share a piece of it. */
export interface Redacted {
  readonly versions: readonly number[];
  readonly remaining: readonly { readonly path: string; readonly version: number }[];
}

/** What a purge erased. It does not repeat the path. */
export interface Purged {
  readonly versions: number;
  /** Of the content that nothing readable needs any more, as far as the commit itself removed it. */
  readonly bytes: number;
  /** Of the versions, those whose rows the sweep removes: unreadable like the others. */
  readonly pendingVersions: number;
}
