/** What a claim of the search index took. */

/** How many files a claim took, and, where none were due, when the next one will be. */
export interface TakenFiles {
  readonly files: number;
  readonly nextDueMilliseconds: number | null;
}
