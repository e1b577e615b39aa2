import type { Key } from "../../api/records.ts";

export type KeyStatus = "active" | "revoked" | "expired";

export function keyStatus(key: Key, now: number = Date.now()): KeyStatus {
  if (key.revokedAt !== null && Date.parse(key.revokedAt) <= now) return "revoked";
  return key.expiresAt !== null && Date.parse(key.expiresAt) <= now ? "expired" : "active";
}

export function keyTitle(key: Key): string {
  return key.name === null || key.name === "" ? `${key.prefix}…` : key.name;
}
