/**
 * The secrets of apps that sign in: codes, access tokens, refresh tokens. Each has 256 random bits. They are stored and
 * found by hashes of another kind than those of API keys, so that none of them is ever a key, nor a key one of them.
 */
import { sha256Hex } from "../runtime/bytes.ts";
import type { KeyHash } from "../ports/answer.ts";

const MARKS = { code: "oac_", access: "oaa_", refresh: "oar_" } as const;
export type AppTokenKind = keyof typeof MARKS;

const RANDOM_BYTES = 32;
const SHAPE = /^oa[car]_[0-9a-f]{64}$/;

export function generateAppToken(kind: AppTokenKind): string {
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES));
  return MARKS[kind] + Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Whether the text has the form of such a secret; it may still be unknown or have ended. */
export function isAppToken(text: string, kind: AppTokenKind): boolean {
  return SHAPE.test(text) && text.startsWith(MARKS[kind]);
}

export function hashAppToken(token: string): Promise<KeyHash> {
  return sha256Hex(new TextEncoder().encode(`token of an app: ${token}`));
}

/** Tells clients apart whose ids may be long. */
export function hashClientId(id: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(`id of a client: ${id}`));
}
