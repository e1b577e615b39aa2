/**
 * The client address that the platform vouches for, by which failed authentications are counted: the one that its edge
 * sets, otherwise the last hop of X-Forwarded-For, which the gateway appended. The client sets everything before that
 * hop, so it is not trusted.
 */
export function clientAddress(headers: Headers): string {
  return headers.get("cf-connecting-ip") ?? headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ??
    "unknown";
}
