/** DELETE /files/{path}: a tombstone becomes the latest version. */
import { z } from "zod";
import { commit } from "../files/commit.ts";
import { commitBasis, parseCommitRequest } from "../files/commit_request.ts";
import { writeResponse } from "../http/respond.ts";
import { defineRoute } from "./route.ts";
import { EXAMPLE_RECORD, fileRecord, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

export const deleteFile = defineRoute({
  method: "DELETE",
  pattern: "/files/*",
  operation: "delete_file",
  credentials: "key",
  parse: parseCommitRequest,
  async handle(context, request) {
    const basis = await commitBasis(request, "delete", {});
    const committed = await commit(context, { kind: "delete", ...basis });
    return writeResponse(
      "delete_file",
      committed,
      `Deleted; version ${committed.file.version} is its tombstone.`,
    );
  },
  openapi: {
    id: "deleteFile",
    summary: "Delete a file",
    description: "Adds a tombstone: earlier versions stay readable by number and can be restored.",
    headers: WRITE_HEADERS,
    answer: fileRecord.extend({ deleted: z.literal(true) }),
    errors: WRITE_ERRORS,
    example: { data: [{ ...EXAMPLE_RECORD, size: 0, deleted: true }] },
  },
});
