/** The tier's file size, refused before any byte is stored where this request's own answer allows that. */
import { fail } from "../errors.ts";
import type { Gate } from "../auth/gate.ts";

/** Throws CONTENT_TOO_LARGE for a file over its tier. A remembered tier may be out of date: the commit checks again. */
export function refuseOverTier(gate: Gate, sizeBytes: number): void {
  const limitBytes = gate.isAdmitted ? gate.grant?.maxFileBytes ?? null : null;
  if (limitBytes === null || sizeBytes <= limitBytes) return;
  fail("CONTENT_TOO_LARGE", "The file would be larger than the project's tier allows.", {
    limitBytes,
    sizeBytes,
    tier: gate.grant?.tier,
  });
}
