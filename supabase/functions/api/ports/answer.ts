/** The parts of every call to the database and of every answer: the caller, the grant, the rate window, a refusal. */
import { z } from "zod";
import { REFUSAL_CODES } from "../contract/errors.ts";
import { scope, type Wire } from "../contract/values.ts";
import { segment } from "./segments.ts";

/** SHA-256 of an API key, 64 lower-case hexadecimal digits. The key itself never leaves the request. */
export type KeyHash = string;

/** The rights and limits of a key, as the database returns them. */
export const grant = z.object({
  projectId: z.string(),
  /** The account that owns the project; null: no account owns it. */
  accountId: z.string().nullable(),
  /** Null for the project's owner in the console. */
  keyId: z.string().nullable(),
  scopes: z.array(scope),
  tier: z.string(),
  /** Bytes a file may have; null: no limit. */
  maxFileBytes: z.number().nullable(),
  /** The directory that the key is confined to; null: none. */
  pathPrefix: z.string().nullable(),
  /** Whether commits are to be delivered. */
  hasWebhooks: z.boolean().optional(),
});
export type Grant = Wire<typeof grant>;

/** The provenance that a client sends with its changes. It is not verified, and no decision depends on it. */
export interface Provenance {
  /** 1 to 128 characters of `A-Za-z0-9._:-`. */
  readonly runId?: string | undefined;
  /** 1 to 128 printable ASCII characters. */
  readonly actor?: string | undefined;
  /** At most 500 characters. */
  readonly note?: string | undefined;
}

/** Part of every call: the caller and the HTTP request. */
export interface Caller {
  readonly keyHash: KeyHash;
  /**
   * UUID of the request, by which it is counted once, whatever the number of its calls. Null: it was counted already.
   */
  readonly requestId: string | null;
  /** Stored with the versions that the request adds. */
  readonly provenance?: Provenance | undefined;
}

/** The window that the rate headers show: that of a project, or of the client address. */
export const rate = z.object({
  /** Requests per minute; null: no limit. */
  limit: z.number().nullable(),
  remaining: z.number().nullable(),
  /** UTC epoch seconds at which the window ends. */
  reset: z.number(),
});
export type RateView = Wire<typeof rate>;

export type AccountAnswer<T = unknown> =
  & {
    /** The window of the project or account, in which the call was counted; null if none was identified. */
    readonly rate: RateView | null;
  }
  & ({ readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal });

/** The answer for the holder of a key. */
export type Answer<T> = AccountAnswer<T> & {
  /** Null where the key was not authorized. */
  readonly grant: Grant | null;
  /** True where an earlier try of the same call got no answer: it may have taken effect, or still may. */
  readonly isAmbiguous: boolean;
};

/** The database's refusal. Nothing was changed, except that the request was counted (a 429 is not). */
export const refusal = z.object({
  /**
   * The codes that `errors.ts` marks as refusals of the database, and SEGMENT_LIST_FULL: the file has the maximum
   * number of segments; compact some of `segments`, then commit again. TEXTS_TO_MERGE: merge the lines of
   * `details.texts`, then plan or commit again.
   */
  code: z.enum([...REFUSAL_CODES, "SEGMENT_LIST_FULL", "TEXTS_TO_MERGE"]),
  details: z.record(z.string(), z.unknown()),
  /** With SEGMENT_LIST_FULL: the file's segment list. */
  segments: z.array(segment).optional(),
});
export type Refusal = Wire<typeof refusal>;
