/** Addresses to which the service delivers. */
import { WEBHOOK_URL_LENGTH_MAX } from "../limits.ts";
import type { Outside } from "../outbound/outside.ts";

/** Names that resolvers know without asking anybody, or that no public host has (RFC 6761, RFC 6762, RFC 9476). */
const LOCAL_NAME = /(^|\.)(localhost|local|localdomain|internal|home\.arpa|test|invalid|onion|alt)\.?$/;

/** Why the service would not deliver to this address, as far as its text tells; null where it would. */
export function addressProblem(outside: Outside, text: string): string | null {
  const url = text.length > WEBHOOK_URL_LENGTH_MAX || /\s/.test(text) ? null : URL.parse(text);
  if (url === null) return `must be an address with at most ${WEBHOOK_URL_LENGTH_MAX} characters`;
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  if (url.hash !== "") return "must not contain a fragment";
  if (outside.isTrusted(url) && /^https?:$/.test(url.protocol)) return null;
  if (url.protocol !== "https:") return "must begin with https://";
  // Of the ports below 1024, only that of HTTPS is meant for requests.
  if (url.port !== "" && Number(url.port) < 1024) return "must have port 443, or a port from 1024";
  return LOCAL_NAME.test(url.hostname) ? "must be the address of a public host" : null;
}

/** The same, with a look at the addresses of its host. Each delivery looks again. */
export async function privateProblem(outside: Outside, text: string): Promise<string | null> {
  const isPrivate = await outside.isPrivate(new URL(text));
  return isPrivate ? "must be the address of a public host" : null;
}
