/**
 * Records that the service hands out and takes back: a client's id, a request that waits for consent. The signature
 * proves that the service made the record, so nothing is stored before a person consents. Records are not secret.
 */
import { Buffer } from "node:buffer";
import { OAUTH_RECORD_LENGTH_MAX } from "../limits.ts";

const SHAPE = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/;
const HMAC = { name: "HMAC", hash: "SHA-256" };
const encode = (text: string) => new TextEncoder().encode(text);

export class SignedRecords {
  readonly #key: Promise<CryptoKey>;

  /** `secret`: the service's own. The key is derived from it, so that no other use of the secret makes our signatures. */
  constructor(secret: string) {
    this.#key = derivedKey(secret);
    // Avoids an unhandled rejection; `sign` and `read` await the key and throw.
    this.#key.catch(() => {});
  }

  /** The record as JSON, with a signature that is valid for this kind of record only. */
  async sign(kind: string, record: unknown): Promise<string> {
    const payload = Buffer.from(JSON.stringify(record)).toString("base64url");
    const mac = await crypto.subtle.sign(HMAC, await this.#key, signedText(kind, payload));
    return `${payload}.${Buffer.from(mac).toString("base64url")}`;
  }

  /** The record; undefined where `sign` did not make the text for this kind. */
  async read(kind: string, text: string): Promise<unknown> {
    if (text.length > OAUTH_RECORD_LENGTH_MAX) return undefined;
    const [, payload = "", mac = ""] = SHAPE.exec(text) ?? [];
    const signature = Buffer.from(mac, "base64url");
    // One record has one text: the last character of a signature has two bits that decoding drops.
    if (payload === "" || signature.toString("base64url") !== mac) return undefined;
    const isOurs = await crypto.subtle.verify(HMAC, await this.#key, signature, signedText(kind, payload));
    return isOurs ? JSON.parse(Buffer.from(payload, "base64url").toString()) : undefined;
  }
}

/** A payload has no line break, so the kind ends at the last one. */
function signedText(kind: string, payload: string): Uint8Array<ArrayBuffer> {
  return encode(`${kind}\n${payload}`);
}

async function derivedKey(secret: string): Promise<CryptoKey> {
  const own = await crypto.subtle.importKey("raw", encode(secret), HMAC, false, ["sign"]);
  const derived = await crypto.subtle.sign(HMAC, own, encode("signed records of OAuth"));
  return await crypto.subtle.importKey("raw", derived, HMAC, false, ["sign", "verify"]);
}
