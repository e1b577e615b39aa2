/** Writes the files of a project into a folder, as they were at one time or with every version. */
import { type Api, fileAddress } from "../library/api.ts";
import { FilestoreError } from "../library/errors.ts";
import { TRANSFERS_AT_ONCE } from "../limits.ts";
import { ExportFolder } from "./export_folder.ts";
import { inOrder } from "./in_order.ts";
import type { ManifestLine } from "./manifest.ts";
import { Progress } from "./progress.ts";
import { save } from "./saved_answer.ts";
import { countFiles, presentOf, versionsToExport, type VersionToExport } from "./stored_versions.ts";

export interface ExportOptions {
  /** "" is the root. */
  readonly directory: string;
  /** A time or a cursor; absent: the present. */
  readonly at: string | undefined;
  readonly hasHistory: boolean;
}

export interface Exported {
  readonly files: number;
  readonly versions: number;
  readonly bytes: number;
  /** Files whose versions of that moment were erased. */
  readonly gone: readonly string[];
}

/** Refusals of a version that was erased after it had been listed. */
const GONE = ["FILE_NOT_FOUND", "VERSION_NOT_FOUND"];

interface Fetched {
  readonly version: VersionToExport;
  /** Null: the version was erased meanwhile. */
  readonly line: Omit<ManifestLine, "stored"> | null;
  readonly download: string | null;
}

/** Exports the files, continuing after the last file of an interrupted run. Throws `Failure`. */
export async function exportFiles(api: Api, path: string, options: ExportOptions): Promise<Exported> {
  const { directory, at, hasHistory } = options;
  const folder = await ExportFolder.open(
    path,
    { directory, asked: at ?? null, history: hasHistory },
    () => presentOf(api),
  );
  const selection = { directory, at: folder.state.at, hasHistory };
  const progress = new Progress("files", await countFiles(api, selection), folder.filesBefore);
  const gone: string[] = [];
  const done = { files: 0, versions: 0, bytes: 0 };
  try {
    const versions = versionsToExport(api, selection, {
      after: folder.lastPath,
      onGone: (path) => gone.push(path),
    });
    for await (
      const fetched of inOrder(versions, TRANSFERS_AT_ONCE, (one) => fetchVersion(api, one, folder))
    ) {
      const { version: { path, isLast }, line, download } = fetched;
      if (line === null) {
        if (isLast) gone.push(path);
        continue;
      }
      await folder.add(line, download, isLast);
      done.versions++;
      done.bytes += line.size;
      if (isLast) done.files++;
      progress.add(isLast ? 1 : 0, line.size);
    }
    await folder.finish();
  } finally {
    await folder.close();
    progress.end();
  }
  return { ...done, files: done.files + folder.filesBefore, gone };
}

async function fetchVersion(api: Api, version: VersionToExport, folder: ExportFolder): Promise<Fetched> {
  const { path, version: { redactedAt, cursor: _, ...record } } = version;
  const line = { path, ...record };
  if (record.deleted) return { version, line, download: null };
  if (redactedAt !== undefined) return { version, line: { ...line, redacted: true }, download: null };
  const download = folder.download();
  try {
    const query = { version: record.version };
    const headers = { accept: "application/octet-stream" };
    const { type, sha256 } = await api.send(
      fileAddress(path),
      { query, headers },
      async (response) => {
        const sha256 = await save(response, download, record.size, 0o600);
        const [type = ""] = (response.headers.get("content-type") ?? "").split(";", 1);
        return { type, sha256 };
      },
    );
    return { version, line: { ...line, type, sha256 }, download };
  } catch (error) {
    if (!(error instanceof FilestoreError)) throw error;
    if (error.code === "VERSION_REDACTED") {
      return { version, line: { ...line, redacted: true }, download: null };
    }
    if (GONE.includes(error.code)) return { version, line: null, download: null };
    throw error;
  }
}
