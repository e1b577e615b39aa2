/** PUT /files/move/{path}: copy, and a tombstone of the source, both or neither. */
import { fileRecord } from "../contract/files.ts";
import { readFields } from "../auth/read_fields.ts";
import { commit, commitBasis, parseCommitRequest, withVersion } from "../files/commit.ts";
import { copyBody, parseDestination } from "./copy_body.ts";
import { writeResponse } from "../http/respond.ts";
import { defineRoute } from "../route.ts";
import { BODY_ERRORS, EXAMPLE_RECORD, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

export const move = defineRoute({
  method: "PUT",
  pattern: "/files/move/*",
  operation: "move_file",
  credentials: "key",
  allows: { write: "copy and move files and folders" },
  makesVersions: true,
  parse: parseCommitRequest,
  async handle(context, request) {
    const fields = await readFields(context, copyBody);
    const basis = await commitBasis(withVersion(request, fields), "move", fields);
    const destination = parseDestination(request.path, fields);
    const committed = await commit(context, {
      kind: "move",
      ...basis,
      ...destination,
    });
    const { path, version } = committed.file;
    return writeResponse("move_file", committed, `Moved; version ${version} of ${path}.`);
  },
  openapi: {
    id: "moveFile",
    summary: "Move a file to another path",
    description: "A copy and a tombstone of the source, in one transaction. Moves no bytes.",
    body: copyBody,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "FILE_ALREADY_EXISTS", "QUOTA_EXCEEDED"],
    example: { body: { destination: "archive/plan.md" }, data: [EXAMPLE_RECORD] },
  },
});
