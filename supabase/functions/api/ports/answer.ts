/** What every call to the database carries and returns: who is calling, the key's grant, the rate window, a refusal. */
import type { Scope } from "../contract/values.ts";
import type { RefusalCode } from "../errors.ts";
import type { Segment } from "./segments.ts";

/** SHA-256 of an API key, 64 lower-case hexadecimal digits. The key itself never leaves the request. */
export type KeyHash = string;

/** What the database knows of a key. */
export interface Grant {
  readonly projectId: string;
  /** The account that owns the project; null: none. */
  readonly accountId: string | null;
  /** Null where the project's owner works in the console. */
  readonly keyId: string | null;
  readonly scopes: readonly Scope[];
  readonly tier: string;
  /** Bytes a file may have; null: no limit. */
  readonly maxFileBytes: number | null;
  /** The directory that the key is confined to; null: none. */
  readonly pathPrefix: string | null;
}

/** What a client says of its changes. Claims: nothing is decided by them. */
export interface Provenance {
  /** 1 to 128 of `A-Za-z0-9._:-`. */
  readonly runId?: string | undefined;
  /** 1 to 128 printable ASCII characters. */
  readonly actor?: string | undefined;
  /** At most 500 characters. */
  readonly note?: string | undefined;
}

/** Part of every call: who is calling, and for which HTTP request. */
export interface Caller {
  readonly keyHash: KeyHash;
  /** UUID of a request that is counted once, however many calls it makes. Null: it was counted already. */
  readonly requestId: string | null;
  /** Stored with the versions that the request makes. */
  readonly provenance?: Provenance | undefined;
}

/** What the rate headers show: a project's window, or the client address's. */
export interface RateView {
  /** Requests a minute; null: no limit. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** UTC epoch seconds at which the window ends. */
  readonly reset: number;
}

/** Every answer of the database carries the rate window and, where the key was authorized, the grant. */
export type Answer<T> =
  & {
    /** The project's window after this request was counted. */
    readonly rate: RateView | null;
    readonly grant: Grant | null;
    /** True where an earlier try of the same call got no answer: it may have taken effect, or still may. */
    readonly isAmbiguous: boolean;
  }
  & ({ readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal });

/** The database's refusal. Nothing was changed, except that the request was counted (a 429 is not). */
export interface Refusal {
  /**
   * The codes that `errors.ts` marks as refusals of the database, and SEGMENT_LIST_FULL: the file has as many segments
   * as it may have; compact some of `segments`, then commit again.
   */
  readonly code: RefusalCode | "SEGMENT_LIST_FULL";
  readonly details: Readonly<Record<string, unknown>>;
  /** With SEGMENT_LIST_FULL: the file's segment list. */
  readonly segments?: readonly Segment[] | undefined;
}
