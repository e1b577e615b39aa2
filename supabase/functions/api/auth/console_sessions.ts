/**
 * Console sessions: while an account's access token is valid, a token derived from the service's own secret acts as a
 * key of the account's project, so that every file route works for the owner as it does for a key. The derived token
 * never leaves the function, and its hash is useless without the Supabase project's secret key.
 */
import { ACCESS_TOKEN_REMEMBERED_SECONDS, KEYS_REMEMBERED_MAX } from "../limits.ts";
import type { KeyHash } from "../ports/answer.ts";
import { expiryOf } from "./access_token.ts";
import { LruCache } from "../runtime/lru_cache.ts";
import { toHex } from "../runtime/bytes.ts";

export class ConsoleSessions {
  private readonly secret: Promise<CryptoKey>;
  /** Until when a session is known to be open, in milliseconds since the epoch. */
  private readonly known = new LruCache<KeyHash, number>(KEYS_REMEMBERED_MAX);

  constructor(secret: string) {
    const bytes = new TextEncoder().encode(secret);
    this.secret = crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    // Avoids an unhandled rejection; `tokenHash` awaits the secret and throws.
    this.secret.catch(() => {});
  }

  /**
   * A console session has no API key; this value takes the place of a key's hash. It is the same in every isolate, and
   * differs for each access token, so that no token uses the cached session of another token.
   */
  async tokenHash(projectId: string, accessToken: string): Promise<KeyHash> {
    const text = new TextEncoder().encode(`console session of project ${projectId} for ${accessToken}`);
    return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", await this.secret, text)));
  }

  /** Whether the database has confirmed within the last minute that this session is valid. */
  isOpen(tokenHash: KeyHash, now: number): boolean {
    return now < (this.known.peek(tokenHash) ?? 0);
  }

  remember(tokenHash: KeyHash, accessToken: string, now: number): void {
    const until = Math.min(now + ACCESS_TOKEN_REMEMBERED_SECONDS * 1000, expiryOf(accessToken) ?? 0);
    this.known.set(tokenHash, until);
  }

  forget(tokenHash: KeyHash): void {
    this.known.delete(tokenHash);
  }
}
