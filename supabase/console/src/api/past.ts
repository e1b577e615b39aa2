/// <reference lib="dom" />
/** Calls that read the project as it was at a time, that instant included. */
import * as z from "zod/mini";
import { FILES_PER_PAGE } from "../limits.ts";
import { call } from "./client.ts";
import { fileUrlPath } from "./files.ts";
import { type FileRecord, fileSchema } from "./records.ts";

const pastListSchema = z.object({
  files: z.array(fileSchema),
  directories: z.optional(z.array(z.string())),
  hasMore: z.boolean(),
  /** What to send as `after` for the next page. */
  next: z.optional(z.string()),
  /** There may be more sub-folders than these. */
  hasMoreDirectories: z.optional(z.boolean()),
  /** Files whose version of that time is gone. */
  trimmed: z.optional(z.array(z.string())),
});
export type PastList = z.infer<typeof pastListSchema>;

export function listPastFiles(
  projectId: string,
  query: { readonly directory: string; readonly at: string; readonly after: string | undefined },
  signal?: AbortSignal,
): Promise<PastList> {
  return call(
    { path: "/files", projectId, query: { limit: FILES_PER_PAGE, ...query }, signal },
    pastListSchema,
  );
}

export function readPastRecord(
  projectId: string,
  path: string,
  at: string,
  signal?: AbortSignal,
): Promise<FileRecord> {
  return call({ path: fileUrlPath(path), projectId, query: { metadata: "", at }, signal }, fileSchema);
}
