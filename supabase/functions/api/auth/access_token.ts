/** Access tokens of signed-in accounts: JWTs, inspected only as far as possible before the back end verifies them. */
import { ACCESS_TOKEN_LENGTH_MAX } from "../limits.ts";

const SHAPE = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

/** Whether the text has the form of a signed JWT (RFC 7519). It may still be invalid. */
export function isAccessToken(text: string): boolean {
  return text.length <= ACCESS_TOKEN_LENGTH_MAX && SHAPE.test(text);
}

/** `aud` of the tokens that Supabase Auth issues to people who signed in. */
const AUDIENCE = "authenticated";

/**
 * Whether the token is meant for this project's API, as far as it says: the back end checks `aud` only where it is
 * configured to (`jwt-aud` of PostgREST), and otherwise takes any token that is signed with the project's key. A token
 * without the claim is for everybody (RFC 7519, section 4.1.3).
 */
export function hasOwnAudience(accessToken: string): boolean {
  const { aud } = claimsOf(accessToken);
  if (aud === undefined || aud === null) return true;
  return Array.isArray(aud) ? aud.length === 0 || aud.includes(AUDIENCE) : aud === AUDIENCE;
}

/**
 * The token's `exp` claim in milliseconds since the epoch; null if it has none. The back end may accept the token a
 * little longer: PostgREST allows for 30 s between clocks.
 */
export function expiryOf(accessToken: string): number | null {
  const { exp } = claimsOf(accessToken);
  return typeof exp === "number" ? exp * 1000 : null;
}

/** The token's `sub` claim, the account that it is of; empty if it has none. */
export function subjectOf(accessToken: string): string {
  const { sub } = claimsOf(accessToken);
  return typeof sub === "string" ? sub.toLowerCase() : "";
}

/** Not verified. Empty where the payload is no JSON object. */
function claimsOf(accessToken: string): Record<string, unknown> {
  const payload = SHAPE.exec(accessToken)?.[1] ?? "";
  try {
    return { ...Object(JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")))) };
  } catch {
    return {};
  }
}
