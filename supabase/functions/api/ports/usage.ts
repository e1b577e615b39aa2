/** The counts of requests by day. */

/** Requests of one key on one day. */
export interface RequestCount {
  readonly projectId: string;
  /** The key's id; null: the project's owner in the console. */
  readonly keyId: string | null;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly requests: number;
}

/** Throws `ApiError("SERVICE_UNAVAILABLE")` when the back end stays out of reach. */
export interface Usage {
  /** Adds to the days of the projects. A call that is repeated after a lost answer may add them twice. */
  count(counts: readonly RequestCount[]): Promise<void>;
}
