/** Access tokens of signed-in accounts: JWTs, inspected only as far as possible before the back end verifies them. */
import { ACCESS_TOKEN_LENGTH_MAX } from "../limits.ts";

const SHAPE = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

/** Whether the text has the form of a signed JWT (RFC 7519). It may still be invalid. */
export function isAccessToken(text: string): boolean {
  return text.length <= ACCESS_TOKEN_LENGTH_MAX && SHAPE.test(text);
}

/** The token's `exp` claim in milliseconds since the epoch; null if it has none. */
export function expiryOf(accessToken: string): number | null {
  const payload = SHAPE.exec(accessToken)?.[1] ?? "";
  try {
    const claims: unknown = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    const { exp } = Object(claims);
    return typeof exp === "number" ? exp * 1000 : null;
  } catch {
    return null;
  }
}
