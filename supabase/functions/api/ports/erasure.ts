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
