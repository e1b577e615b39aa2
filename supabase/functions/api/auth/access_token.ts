/** Access tokens of signed-in accounts: JWTs, as far as they are looked at before the back end verifies them. */
import { ACCESS_TOKEN_LENGTH_MAX } from "../limits.ts";

const SHAPE = /^[\w-]+\.([\w-]+)\.[\w-]+$/;

/** Whether the text has the shape of a signed JWT (RFC 7519). Says nothing about its being valid. */
export function isAccessToken(text: string): boolean {
  return text.length <= ACCESS_TOKEN_LENGTH_MAX && SHAPE.test(text);
}

/** When the token says it ends, in milliseconds since the epoch; null where it does not say so. */
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
