/**
 * Console sessions: while an account's access token is valid, a token derived from the service's own secret acts as a
 * key of the account's project, so that every file route works for the owner as it does for a key. The derived token
 * never leaves the function, and its hash is useless without the Supabase project's secret key.
 */
import { ACCESS_TOKEN_REMEMBERED_SECONDS, KEYS_REMEMBERED_MAX } from "../limits.ts";
import type { KeyHash } from "../ports/answer.ts";
import { expiryOf } from "./access_token.ts";
import { LruCache } from "../runtime/lru_cache.ts";
import { sha256Hex, toHex } from "../runtime/bytes.ts";

export class ConsoleSessions {
  private readonly secret: Promise<CryptoKey>;
  /** Access token and project → until when the session is known to be open, in milliseconds since the epoch. */
  private readonly known = new LruCache<string, number>(KEYS_REMEMBERED_MAX);

  constructor(secret: string) {
    const bytes = new TextEncoder().encode(secret);
    this.secret = crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    // Avoids an unhandled rejection; `tokenHash` awaits the secret and throws.
    this.secret.catch(() => {});
  }

  /**
   * The hash that stands for a key's hash in the project's console session. It is the same in every isolate, and
   * differs between access tokens, so that a remembered token never uses the session of another token.
   */
  async tokenHash(projectId: string, accessToken: string): Promise<KeyHash> {
    const text = new TextEncoder().encode(`console session of project ${projectId} for ${accessToken}`);
    return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", await this.secret, text)));
  }

  /** Whether the database recently opened a session for this token and project. */
  async isOpen(accessToken: string, projectId: string, now: number): Promise<boolean> {
    const until = this.known.peek(await nameOf(accessToken, projectId));
    return until !== undefined && now < until;
  }

  async remember(accessToken: string, projectId: string, now: number): Promise<void> {
    const name = await nameOf(accessToken, projectId);
    this.known.set(name, Math.min(now + ACCESS_TOKEN_REMEMBERED_SECONDS * 1000, expiryOf(accessToken) ?? 0));
  }

  async forget(accessToken: string, projectId: string): Promise<void> {
    this.known.delete(await nameOf(accessToken, projectId));
  }
}

/** A name for the session in memory, which does not contain the token in plain text. */
function nameOf(accessToken: string, projectId: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(`${projectId} ${accessToken}`));
}
