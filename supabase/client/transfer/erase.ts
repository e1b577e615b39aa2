/** Erases a file with all of its versions, or the content of some versions, for good, over the public API. */
import { type Api, fileAddress } from "../library/api.ts";
import type { Purged, Redacted } from "../library/records.ts";
import { write } from "../library/write.ts";

/** Erases every version of a file, of a deleted one, too. Throws `FilestoreError`. */
export function purgeFile(api: Api, path: string): Promise<Purged> {
  return write<Purged>(api, fileAddress(path), { method: "DELETE", query: { purge: true } }, {});
}

/** Erases the content of versions; `note` replaces their notes. Throws `FilestoreError`. */
export function redactVersions(
  api: Api,
  path: string,
  versions: readonly number[],
  note: string | undefined,
): Promise<Redacted> {
  const call = { method: "POST", json: { versions, note } };
  return api.data<Redacted>(fileAddress(path, "/files/redact"), call);
}
