import type {
  DiffRecord as Diff,
  FileList,
  FileRecord,
  ReadRecord,
} from "../../../functions/api/contract/files.ts";
import type { SearchResults } from "../../../functions/api/contract/search.ts";
import type { Version, VersionList } from "../../../functions/api/contract/versions.ts";
import { encodePath, joinPath } from "../format.ts";
import { FILES_PER_PAGE, SEARCH_RESULTS_PER_PAGE, VERSIONS_PER_PAGE } from "../limits.ts";
import { call, send } from "./client.ts";

export type { Diff, FileList, FileRecord, SearchResults, Version };
/** Lines of a text, each with its line break. */
export type Lines = {
  readonly [Name in "content" | "startLine" | "endLine" | "totalLines"]-?: NonNullable<ReadRecord[Name]>;
};

/** A file of a project. */
export interface FileAt {
  readonly projectId: string;
  readonly path: string;
}

export type SortField = "path" | "updated_at" | "size";
export type SortOrder = "asc" | "desc";

export interface ListQuery {
  readonly directory: string;
  /** Lists the folder as it was at this time. */
  readonly at?: string;
  readonly sortBy?: SortField;
  readonly sortOrder?: SortOrder;
  readonly offset?: number | undefined;
  readonly after?: string | undefined;
  readonly deleted?: boolean;
  readonly recursive?: boolean;
  readonly limit?: number;
}

export function listFiles(projectId: string, query: ListQuery, signal?: AbortSignal): Promise<FileList> {
  return call({ path: "/files", projectId, query: { limit: FILES_PER_PAGE, ...query }, signal });
}

export function fileUrlPath(path: string): string {
  return `/files/${encodePath(path)}`;
}

/** Reads the latest version, the version with that number, or the version at a time. */
export function readRecord(
  { projectId, path }: FileAt,
  which: { readonly version?: number | undefined; readonly at?: string },
  signal?: AbortSignal,
): Promise<FileRecord> {
  return call({ path: fileUrlPath(path), projectId, query: { metadata: "", ...which }, signal });
}

export function listVersions(
  { projectId, path }: FileAt,
  offset: number,
  signal?: AbortSignal,
): Promise<VersionList> {
  const query = { versions: "", limit: VERSIONS_PER_PAGE, offset };
  return call({ path: fileUrlPath(path), projectId, query, signal });
}

export interface Content {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string | null;
}

export async function readBytes(file: FileAt, version: number, signal?: AbortSignal): Promise<Content> {
  const response = await readRaw(file, version, signal);
  return { bytes: await response.bytes(), etag: response.headers.get("etag") };
}

/** Reads the latest version with its stored type. Returns null without reading if it is larger than `bytesMax`. */
export async function readLatest(
  file: FileAt,
  bytesMax: number,
  signal?: AbortSignal,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly mimeType: string } | null> {
  const response = await readRaw(file, undefined, signal);
  if (Number(response.headers.get("content-length")) > bytesMax) {
    await response.body?.cancel();
    return null;
  }
  const [mimeType = ""] = (response.headers.get("content-type") ?? "").split(";");
  return { bytes: await response.bytes(), mimeType };
}

/** Returns a version's bytes as a stream; with `range`, the bytes from `start` to before `end`. */
export async function readRaw(
  { projectId, path }: FileAt,
  version: number | undefined,
  signal: AbortSignal | undefined,
  range?: { readonly start: number; readonly end: number },
): Promise<Response> {
  const part = range && { range: `bytes=${range.start}-${range.end - 1}` };
  const headers = { accept: "application/octet-stream", ...part };
  return await send({ path: fileUrlPath(path), projectId, query: { version }, headers, signal });
}

/** Reads lines of a text: `from-to`, from 1 and both inclusive, or `-n` for the last n. */
export function readLines(
  { projectId, path }: FileAt,
  version: number,
  lines: string,
  signal?: AbortSignal,
): Promise<Lines> {
  return call({ path: fileUrlPath(path), projectId, query: { version, lines }, signal });
}

/** Creates an empty file. Fails if the file exists. */
export function createFile({ projectId, path }: FileAt): Promise<FileRecord> {
  const headers = { "if-none-match": "*" };
  return call({ method: "POST", path: "/files", projectId, headers, body: { path, content: "" } });
}

/** Saves a new version. Fails with PRECONDITION_FAILED if the file is no longer at `etag`. */
export function overwriteFile(
  { projectId, path }: FileAt,
  content: string,
  etag: string,
): Promise<FileRecord> {
  return call({
    method: "PUT",
    path: `/files/overwrite/${encodePath(path)}`,
    projectId,
    headers: { "if-match": etag, "idempotency-key": crypto.randomUUID() },
    body: { content },
  });
}

/** Deletes a file and returns the version before the deletion: restoring it undoes the deletion. */
export async function deleteFile({ projectId, path }: FileAt): Promise<number> {
  const tombstone = await call<FileRecord>({ method: "DELETE", path: fileUrlPath(path), projectId });
  return tombstone.version - 1;
}

export function restoreVersion({ projectId, path }: FileAt, version: number): Promise<FileRecord> {
  const url = `/files/restore/${encodePath(path)}`;
  return call({ method: "PUT", path: url, projectId, body: { version } });
}

export function moveFile({ projectId, path }: FileAt, destination: string): Promise<FileRecord> {
  const url = `/files/move/${encodePath(path)}`;
  return call({ method: "PUT", path: url, projectId, body: { destination } });
}

export function copyFile({ projectId, path }: FileAt, destination: string): Promise<FileRecord> {
  const url = `/files/copy/${encodePath(path)}`;
  return call({ method: "PUT", path: url, projectId, body: { destination } });
}

/** Compares two versions of a file or, with `toPath`, of two files. An omitted version is the latest one. */
export function readDiff(
  { projectId, path }: FileAt,
  query: {
    readonly from: number | undefined;
    readonly to: number | undefined;
    readonly toPath: string | undefined;
  },
  signal?: AbortSignal,
): Promise<Diff> {
  return call({ path: `/diff/${encodePath(path)}`, projectId, query, signal });
}

interface SearchQuery {
  readonly q: string;
  readonly mode: string;
  readonly directory: string | undefined;
  readonly glob: string | undefined;
  readonly caseSensitive: boolean;
  readonly offset: number;
}

export function search(projectId: string, query: SearchQuery, signal?: AbortSignal): Promise<SearchResults> {
  return call({ path: "/search", projectId, query: { ...query, limit: SEARCH_RESULTS_PER_PAGE }, signal });
}

const LAST_CHARACTER = "\u{10FFFF}";

/**
 * Returns a value for the `after` parameter: a path that sorts before every path that begins with `directory/prefix`, and
 * after all paths that sort before those. Undefined if the list can start at its beginning.
 */
export function cursorBefore(directory: string, prefix: string): string | undefined {
  const characters = [...prefix];
  const last = characters.pop()?.codePointAt(0);
  if (last === undefined) return undefined;
  const start = characters.join("");
  const previous = previousCharacter(last);
  if (previous === null) return start === "" ? undefined : joinPath(directory, start);
  return joinPath(directory, `${start}${String.fromCodePoint(previous)}${LAST_CHARACTER}`);
}

/** Returns the nearest lower character that is valid in a path, or null. */
function previousCharacter(character: number): number | null {
  for (let one = character - 1; one >= 0x20; one--) {
    if (one === 0x2f || one === 0x5c) continue;
    if (one >= 0x7f && one < 0xa0) continue;
    if (one >= 0xd800 && one < 0xe000) one = 0xd7ff;
    return one;
  }
  return null;
}
