/** What every call to the database carries and returns: who is calling, the key's grant, the rate window, a refusal. */
import { z } from "zod";
import { REFUSAL_CODES } from "../contract/errors.ts";
import { scope, type Wire } from "../contract/values.ts";
import { segment } from "./segments.ts";

/** SHA-256 of an API key, 64 lower-case hexadecimal digits. The key itself never leaves the request. */
export type KeyHash = string;

/** What the database knows of a key. */
export const grant = z.object({
  projectId: z.string(),
  /** The account that owns the project; null: none. */
  accountId: z.string().nullable(),
  /** Null where the project's owner works in the console. */
  keyId: z.string().nullable(),
  scopes: z.array(scope),
  tier: z.string(),
  /** Bytes a file may have; null: no limit. */
  maxFileBytes: z.number().nullable(),
  /** The directory that the key is confined to; null: none. */
  pathPrefix: z.string().nullable(),
});
export type Grant = Wire<typeof grant>;

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
export const rate = z.object({
  /** Requests a minute; null: no limit. */
  limit: z.number().nullable(),
  remaining: z.number().nullable(),
  /** UTC epoch seconds at which the window ends. */
  reset: z.number(),
});
export type RateView = Wire<typeof rate>;

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
export const refusal = z.object({
  /**
   * The codes that `errors.ts` marks as refusals of the database, and SEGMENT_LIST_FULL: the file has as many segments
   * as it may have; compact some of `segments`, then commit again.
   */
  code: z.enum([...REFUSAL_CODES, "SEGMENT_LIST_FULL"]),
  details: z.record(z.string(), z.unknown()),
  /** With SEGMENT_LIST_FULL: the file's segment list. */
  segments: z.array(segment).optional(),
});
export type Refusal = Wire<typeof refusal>;
