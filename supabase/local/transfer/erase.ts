/** Erases a file with all of its versions, or the content of some versions, for good, over the public API. */
import { type Purged, purged, type Redacted, redacted } from "../../functions/api/contract/files.ts";
import { fileAddress, type FileApi } from "./file_api.ts";

/** Erases every version of a file, of a deleted one, too. Throws `Refusal`. */
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
