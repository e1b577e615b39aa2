/**
 * The database's recent answers about keys, cached in the isolate. No request succeeds because of an entry: an entry
 * saves a call whose refusal is known, and lets the function store a small body before the commit authorizes it.
 */
import { KEY_REMEMBERED_SECONDS, KEYS_REMEMBERED_MAX } from "../limits.ts";
import type { Grant, KeyHash, RateView } from "../ports/answer.ts";
import { LruCache } from "../runtime/lru_cache.ts";

interface Entry {
  readonly at: number;
  /** Null: the database refused the key. A refused key never becomes valid again. */
  readonly grant: Grant | null;
  /** The project's window, if it is known to be used up. */
  readonly exhausted: RateView | null;
}

export class KeyCache {
  private readonly entries = new LruCache<KeyHash, Entry>(KEYS_REMEMBERED_MAX);

  /** The grant that the database returned for this key in the last KEY_REMEMBERED_SECONDS. */
  grant(keyHash: KeyHash, now: number): Grant | undefined {
    return this.fresh(keyHash, now)?.grant ?? undefined;
  }

  isRefused(keyHash: KeyHash, now: number): boolean {
    return this.fresh(keyHash, now)?.grant === null;
  }

  /** The used-up window of the key's project, until it ends. */
  exhausted(keyHash: KeyHash, now: number): RateView | undefined {
    const exhausted = this.fresh(keyHash, now)?.exhausted;
    return exhausted && exhausted.reset * 1000 > now ? exhausted : undefined;
  }

  remember(keyHash: KeyHash, grant: Grant | null, rate: RateView | null, now: number): void {
    const exhausted = rate !== null && rate.limit !== null && rate.remaining === 0 ? rate : null;
    this.entries.set(keyHash, { at: now, grant, exhausted });
  }

  private fresh(keyHash: KeyHash, now: number): Entry | undefined {
    const entry = this.entries.peek(keyHash);
    return entry && now - entry.at < KEY_REMEMBERED_SECONDS * 1000 ? entry : undefined;
  }
}
