/** Brings versions of the service to the disk. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { fileAddress } from "../library/api.ts";
import { SYNC_SMALL_BYTES } from "../limits.ts";
import type { LocalFolder } from "./local_folder.ts";
import type { Remote } from "./plan.ts";
import type { RemoteFolder } from "./remote.ts";

export interface Download {
  readonly file: string;
  readonly sha256: string;
}

/** Stores a version in a temporary file. Throws `FilestoreError`. */
export async function download(
  remote: RemoteFolder,
  local: LocalFolder,
  path: string,
  { version, size }: Pick<Remote, "version" | "size">,
): Promise<Download> {
  const file = local.temporary();
  const call = { query: { version }, headers: { accept: "application/octet-stream" } };
  const sha256 = await remote.store.api.send(fileAddress(remote.at(path)), call, async (answer) => {
    const hash = createHash("sha256");
    if (size <= SYNC_SMALL_BYTES) {
      const bytes = new Uint8Array(await answer.arrayBuffer());
      writeFileSync(file, bytes);
      return hash.update(bytes).digest("hex");
    }
    const output = await open(file, "w");
    try {
      for await (const chunk of answer.body ?? []) {
        hash.update(chunk);
        await output.writeFile(chunk);
      }
    } finally {
      await output.close();
    }
    return hash.digest("hex");
  });
  return { file, sha256 };
}
