/** The secrets of webhooks. The database stores them encrypted, with a key that only the function can derive. */
import { Buffer } from "node:buffer";

const PREFIX = "whsec_";
const SECRET_BYTES = 24;
const IV_BYTES = 12;
const encode = (text: string) => new TextEncoder().encode(text);

export class WebhookSecrets {
  readonly #keys: readonly Promise<CryptoKey>[];

  /** `secretKeys`: the service's own. The first one encrypts; the others are tried, too, so that a key can be replaced. */
  constructor(secretKeys: readonly string[]) {
    this.#keys = secretKeys.map(derivedKey);
    // Avoids an unhandled rejection; `seal` and `open` await the keys and throw.
    for (const key of this.#keys) key.catch(() => {});
  }

  /** A new secret, as the webhook's owner gets it. */
  create(): string {
    return PREFIX + Buffer.from(crypto.getRandomValues(new Uint8Array(SECRET_BYTES))).toString("base64");
  }

  /** Encrypts a secret for the webhook with this id. */
  async seal(id: string, secret: string): Promise<string> {
    const [key] = this.#keys;
    if (key === undefined) throw new Error("there is no key");
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const sealed = await crypto.subtle.encrypt(parametersOf(iv, id), await key, encode(secret));
    return Buffer.concat([iv, new Uint8Array(sealed)]).toString("base64url");
  }

  /** The secret; undefined where it was sealed with another service's keys, or for another webhook. */
  async open(id: string, sealed: string): Promise<string | undefined> {
    const bytes = new Uint8Array(Buffer.from(sealed, "base64url"));
    const parameters = parametersOf(bytes.slice(0, IV_BYTES), id);
    for (const key of this.#keys) {
      try {
        const opened = await crypto.subtle.decrypt(parameters, await key, bytes.slice(IV_BYTES));
        return new TextDecoder().decode(opened);
      } catch { /* sealed with another key */ }
    }
    return undefined;
  }
}

function parametersOf(iv: Uint8Array<ArrayBuffer>, id: string): AesGcmParams {
  return { name: "AES-GCM", iv, additionalData: encode(id) };
}

async function derivedKey(secret: string): Promise<CryptoKey> {
  const own = await crypto.subtle.importKey("raw", encode(secret), "HKDF", false, ["deriveKey"]);
  const parameters = {
    name: "HKDF",
    hash: "SHA-256",
    salt: new Uint8Array(),
    info: encode("secrets of webhooks"),
  };
  return await crypto.subtle.deriveKey(parameters, own, { name: "AES-GCM", length: 256 }, false, [
    "encrypt",
    "decrypt",
  ]);
}
