/** Brings versions of the service to the disk. */
import { fileAddress } from "../library/api.ts";
import { save } from "../transfer/saved_answer.ts";
import type { LocalFolder } from "./local_folder.ts";
import type { RemoteFolder } from "./remote.ts";

/** A version; `size` is null where only the disk's was remembered. */
export interface Wanted {
  readonly version: number;
  readonly size: number | null;
}

export interface Download {
  readonly file: string;
  readonly sha256: string;
}

/** Stores a version in a temporary file. Throws `FilestoreError`, and `Failure` if the disk does not take it. */
export async function download(
  remote: RemoteFolder,
  local: LocalFolder,
  path: string,
  { version, size }: Wanted,
): Promise<Download> {
  const file = local.temporary();
  const call = { query: { version }, headers: { accept: "application/octet-stream" } };
  const sha256 = await remote.store.api.send(
    fileAddress(remote.at(path)),
    call,
    (answer) => save(answer, file, size),
  );
  return { file, sha256 };
}
