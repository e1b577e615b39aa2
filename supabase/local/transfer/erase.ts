/** Erases a file with all of its versions, or the content of some versions, for good, over the public API. */
import { z } from "zod";
import { fileAddress, type FileApi } from "./file_api.ts";

const purged = z.object({
  path: z.string(),
  versions: z.number(),
  bytes: z.number(),
  pendingVersions: z.number(),
});
/** All versions are unreadable at once; the sweep still has to remove `pendingVersions` of them. */
export type Purged = z.infer<typeof purged>;

const redacted = z.object({
  path: z.string(),
  versions: z.array(z.number()),
  remaining: z.array(z.object({ path: z.string(), version: z.number() })),
});
/** `remaining`: versions that can still be read and use a segment of the redacted ones. */
export type Redacted = z.infer<typeof redacted>;

/** Erases every version of a file, also of a deleted one. Throws `Refusal`. */
export function purgeFile(api: FileApi, path: string): Promise<Purged> {
  return api.data(fileAddress(path), purged, {
    method: "DELETE",
    query: { purge: "true" },
    // If the answer is lost, the repeated request gets the same answer.
    headers: { "idempotency-key": crypto.randomUUID() },
  });
}

/** Erases the content of versions; `note` replaces their notes. Throws `Refusal`. */
export function redactVersions(
  api: FileApi,
  path: string,
  versions: readonly number[],
  note: string | undefined,
): Promise<Redacted> {
  const body = new TextEncoder().encode(JSON.stringify({ versions, note }));
  return api.data(fileAddress(path, "/files/redact"), redacted, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: () => Promise.resolve(new Blob([body]).stream()),
  });
}
