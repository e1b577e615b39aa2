/** Tokens of links: 256 random bits, which only the link's address contains. The database stores their SHA-256. */
import { Buffer } from "node:buffer";
import { sha256Hex } from "../runtime/bytes.ts";

const RANDOM_BYTES = 32;
export const LINK_TOKEN_SHAPE = /^[0-9A-Za-z_-]{43}$/;

/** A new token, 43 characters that need no escaping in a URL. */
export function generateLinkToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))).toString("base64url");
}

/** SHA-256 of a token, 64 lower-case hexadecimal digits. */
export async function hashLinkToken(token: string): Promise<string> {
  return await sha256Hex(new TextEncoder().encode(token));
}
