import type { Key } from "../../api/projects.ts";
import { localSeconds, visible } from "../../format.ts";

type KeyStatus = "active" | "revoked" | "expired";

export function keyStatus(key: Key, now: number = Date.now()): KeyStatus {
  if (key.revokedAt !== null && Date.parse(key.revokedAt) <= now) return "revoked";
  return key.expiresAt !== null && Date.parse(key.expiresAt) <= now ? "expired" : "active";
}

export function keyTitle(key: Key): string {
  return visible(key.name || key.client?.name || "") || `${key.prefix}…`;
}

export function isoOf(local: string): string | undefined {
  return local === "" ? undefined : new Date(local).toISOString();
}

export function localOf(iso: string | null): string {
  return iso === null ? "" : localSeconds(iso).slice(0, 16);
}
