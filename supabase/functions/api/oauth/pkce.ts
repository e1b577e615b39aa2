/** Proof key for code exchange (RFC 7636), by SHA-256 alone: the method `plain` protects against nothing. */
import { Buffer } from "node:buffer";

/** BASE64URL(SHA256(verifier)) without padding. The last character of 32 bytes holds only four bits. */
const CHALLENGE = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Whether an authorization request may carry this `code_challenge` with this `code_challenge_method`. */
export function isChallenge(challenge: string | undefined, method: string | undefined): challenge is string {
  return method === "S256" && challenge !== undefined && CHALLENGE.test(challenge);
}

/** The challenge that the verifier answers; undefined where the text cannot be a verifier. */
export async function challengeOf(verifier: string): Promise<string | undefined> {
  if (!VERIFIER.test(verifier)) return undefined;
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return Buffer.from(hash).toString("base64url");
}
