/** PUT /files/restore/{path}: an earlier version becomes the latest one. */
import { z } from "zod";
import { INTEGER_MAX } from "../limits.ts";
import { commitRequest } from "../files/commit_request.ts";
import { written } from "../http/respond.ts";
import type { Route } from "./route.ts";
import { BODY_ERRORS, fileRecord, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

const body = z.object({ version: z.int().min(1).max(INTEGER_MAX) });

export const restore: Route = {
  method: "PUT",
  pattern: "/files/restore/*",
  operation: "restore_file",
  needsKey: true,
  handle: async (context) => {
    const committed = await commitRequest(
      context,
      "/files/restore/",
      "restore",
      body,
      true,
      (basis, { version }) => ({ kind: "restore", ...basis, version }),
    );
    return written("restore_file", committed, `Restored; this is version ${committed.file.version}.`);
  },
  document: {
    id: "restoreFile",
    summary: "Make an earlier version the latest one",
    description: "A new version with that content and type, also of a deleted file. Moves no bytes.",
    body,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "VERSION_NOT_FOUND", "VERSION_DELETED"],
  },
};
