/** Calls that read the project as it was at a time, that instant included. */
import { FILES_PER_PAGE } from "../limits.ts";
import { call } from "./client.ts";
import { fileUrlPath } from "./files.ts";
import type { FileList, FileRecord } from "./records.ts";

export function listPastFiles(
  projectId: string,
  query: { readonly directory: string; readonly at: string; readonly after: string | undefined },
  signal?: AbortSignal,
): Promise<FileList> {
  return call({ path: "/files", projectId, query: { limit: FILES_PER_PAGE, ...query }, signal });
}

export function readPastRecord(
  projectId: string,
  path: string,
  at: string,
  signal?: AbortSignal,
): Promise<FileRecord> {
  return call({ path: fileUrlPath(path), projectId, query: { metadata: "", at }, signal });
}
