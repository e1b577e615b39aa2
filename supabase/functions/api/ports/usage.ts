/** Where requests are counted by day. */

/** Requests of one key on one day. */
export interface RequestCount {
  readonly projectId: string;
  /** Null: the project's owner in the console. */
  readonly keyId: string | null;
  /** UTC, `YYYY-MM-DD`. */
  readonly day: string;
  readonly requests: number;
}

/** Throws `ApiError("SERVICE_UNAVAILABLE")` when the back end stays out of reach. */
export interface Usage {
  /** Adds to the days of the projects. Repeated after a lost answer it may add twice. */
  count(counts: readonly RequestCount[]): Promise<void>;
}
