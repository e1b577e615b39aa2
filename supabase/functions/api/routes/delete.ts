/** DELETE /files/{path}: a tombstone becomes the latest version. */
import { z } from "zod";
import { commitRequest } from "../files/commit_request.ts";
import { written } from "../http/respond.ts";
import type { Route } from "./route.ts";
import { fileRecord, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

export const deleteFile: Route = {
  method: "DELETE",
  pattern: "/files/*",
  operation: "delete_file",
  needsKey: true,
  handle: async (context) => {
    const committed = await commitRequest(context, "/files/", "delete", z.object({}), false, (basis) => ({
      kind: "delete",
      ...basis,
    }));
    return written("delete_file", committed, `Deleted; version ${committed.file.version} is its tombstone.`);
  },
  document: {
    id: "deleteFile",
    summary: "Delete a file",
    description: "Makes a tombstone: earlier versions stay readable by number and can be restored.",
    headers: WRITE_HEADERS,
    answer: fileRecord.extend({ deleted: z.literal(true) }),
    errors: WRITE_ERRORS,
  },
};
