/** Whose failed authentications are counted together. */

/**
 * The client address that the platform vouches for: the one its edge sets, else the last hop of X-Forwarded-For, which
 * the gateway appended. Everything before that hop is set by the client and not trusted.
 */
export function clientAddress(headers: Headers): string {
  return headers.get("cf-connecting-ip") ?? headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ??
    "unknown";
}
