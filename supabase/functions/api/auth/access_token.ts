/** Access tokens of signed-in accounts: JWTs, inspected only as far as possible before the back end verifies them. */
import { ACCESS_TOKEN_LENGTH_MAX } from "../limits.ts";

const SHAPE = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

/** Whether the text has the form of a signed JWT (RFC 7519). It may still be invalid. */
export function isAccessToken(text: string): boolean {
  return text.length <= ACCESS_TOKEN_LENGTH_MAX && SHAPE.test(text);
}

/** `role` and `aud` of the tokens that Supabase Auth issues to people who signed in. */
const SIGNED_IN = "authenticated";

/**
 * Whether the token was issued, by its own claims, to a person who signed in here: not to a third-party app
 * (`client_id`), for another role or for another service. The database decides by the same rule
 * (`filestore.claimed_account_id`), but it fails earlier on a role that does not exist. A token without `aud` is for
 * every service (RFC 7519, 4.1.3).
 */
export function isPersonsToken(accessToken: string): boolean {
  const claims = claimsOf(accessToken);
  if (claims["role"] !== SIGNED_IN || Object.hasOwn(claims, "client_id")) return false;
  const aud = claims["aud"] ?? [];
  return Array.isArray(aud) ? aud.length === 0 || aud.includes(SIGNED_IN) : aud === SIGNED_IN;
}

/**
 * The token's `exp` claim in milliseconds since the epoch; null if it has none. The back end may accept the token a
 * little longer: PostgREST allows for 30 s between clocks.
 */
export function expiryOf(accessToken: string): number | null {
  const { exp } = claimsOf(accessToken);
  return typeof exp === "number" ? exp * 1000 : null;
}

/** The token's `sub` claim: the account that it was issued to. Empty if it has none. */
export function subjectOf(accessToken: string): string {
  const { sub } = claimsOf(accessToken);
  return typeof sub === "string" ? sub.toLowerCase() : "";
}

/** The claims, not verified. Empty where the payload is not a JSON object. */
function claimsOf(accessToken: string): Record<string, unknown> {
  const payload = SHAPE.exec(accessToken)?.[1] ?? "";
  try {
    return { ...Object(JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")))) };
  } catch {
    return {};
  }
}
