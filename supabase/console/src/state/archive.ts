/**
 * ZIP archives: the service creates one of a single folder, the browser one of any other selection. Both contain whole paths
 * and all files; a file that cannot be read ends the archive with an error.
 */
import { archiveNames } from "../../../functions/api/files/disk_name.ts";
import { buildUrl } from "../api/client.ts";
import { isCode, reasonOf } from "../api/failure.ts";
import { type FileRecord, readRaw } from "../api/files.ts";
import { filesBelow } from "../api/many.ts";
import { sendTransfer } from "../api/transfer.ts";
import { formatBytes, formatNumber, nameOf } from "../format.ts";
import { ARCHIVE_BYTES_MAX, ARCHIVE_FILES_MAX } from "../limits.ts";
import type { Selected } from "./many.ts";
import { downloadMade } from "./transfers.ts";

type OnProgress = (progress: number) => void;

/** An empty `directory` is the whole project. `at`: the folder as it was at this time. */
export function downloadFolder(projectId: string, directory: string, at?: string): void {
  downloadMade(`${directory === "" ? "files" : nameOf(directory)}.zip`, async (onProgress, signal) => {
    try {
      const query = { directory: directory === "" ? undefined : directory, at };
      const url = buildUrl({ path: "/export", query });
      return await sendTransfer({ url, projectId, body: null, signal, onProgress });
    } catch (error) {
      if (!isCode(error, "EXPORT_TOO_LARGE") || at !== undefined) throw error;
      // An archive too large for one answer of the service may still be possible in the browser.
      return await archiveOf(projectId, { files: [], folders: [directory] }, onProgress, signal);
    }
  });
}

/** Downloads a single folder, or any selection. */
export function downloadSelected(projectId: string, selected: Selected): void {
  const [folder, ...others] = selected.folders;
  if (folder !== undefined && others.length === 0 && selected.files.length === 0) {
    downloadFolder(projectId, folder);
  } else {
    downloadMade("files.zip", (onProgress, signal) => archiveOf(projectId, selected, onProgress, signal));
  }
}

async function archiveOf(
  projectId: string,
  { files, folders }: Selected,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<Blob> {
  const all = [...files];
  for (const folder of folders) {
    all.push(...await filesBelow(projectId, folder, ARCHIVE_FILES_MAX - all.length, signal));
    ensureSmall(all);
  }
  ensureSmall(all);
  // Loaded for the first archive.
  const { makeZip } = await import("client-zip");
  const total = Math.max(1, sizeOf(all));
  let read = 0;
  let failure: unknown;
  async function* bytesOf({ path, version }: FileRecord) {
    try {
      const { body } = await readRaw({ projectId, path }, version, signal);
      const reader = body?.getReader();
      for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
        read += part.value.length;
        onProgress(read / total);
        yield part.value;
      }
    } catch (error) {
      failure = signal.aborted ? error : new Error(`${path} could not be read. ${reasonOf(error)}`);
      throw failure;
    }
  }
  function* entries() {
    const names = archiveNames(all.map(({ path }) => path));
    for (const [index, file] of all.entries()) {
      const { size, updatedAt } = file;
      yield { name: names[index], size, lastModified: new Date(updatedAt), input: bytesOf(file) };
    }
  }
  try {
    return await new Response(makeZip(entries())).blob();
  } catch (error) {
    // For any broken stream, the browser reports only that it broke; `failure` has the cause.
    throw failure ?? error;
  }
}

function ensureSmall(files: readonly FileRecord[]): void {
  const bytes = sizeOf(files);
  if (files.length <= ARCHIVE_FILES_MAX && bytes <= ARCHIVE_BYTES_MAX) return;
  throw new Error(
    `An archive can have at most ${formatNumber(ARCHIVE_FILES_MAX)} files and ${
      formatBytes(ARCHIVE_BYTES_MAX)
    }. ` +
      "Select fewer files, or use “deno task files export”, which exports any size.",
  );
}

function sizeOf(files: readonly FileRecord[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
