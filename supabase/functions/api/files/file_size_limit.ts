/** Enforces the tier's file size before any byte is stored, if the request has been authorized by then. */
import { ERRORS, fail } from "../errors.ts";
import type { Gate } from "../auth/gate.ts";

/**
 * Throws CONTENT_TOO_LARGE for a file over its tier's size. Only the database's answer in this request counts: a cached
 * tier may be out of date. The commit checks again.
 */
export function ensureWithinTier(
  { authorizedFileBytes: limitBytes, grant }: Pick<Gate, "authorizedFileBytes" | "grant">,
  sizeBytes: number,
): void {
  if (limitBytes === null || sizeBytes <= limitBytes) return;
  fail("CONTENT_TOO_LARGE", ERRORS.CONTENT_TOO_LARGE.message, { limitBytes, sizeBytes, tier: grant?.tier });
}
