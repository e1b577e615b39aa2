/** PUT /files/copy/{path}: the current content becomes the next version of another path. */
import { fileRecord } from "../contract/files.ts";
import { readFields } from "../auth/read_fields.ts";
import { commit, commitBasis, parseCommitRequest, withVersion } from "../files/commit.ts";
import { copyBody, parseDestination } from "./copy_body.ts";
import { writeResponse } from "../http/respond.ts";
import { defineRoute } from "../route.ts";
import { BODY_ERRORS, EXAMPLE_RECORD, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

export const copy = defineRoute({
  method: "PUT",
  pattern: "/files/copy/*",
  operation: "copy_file",
  credentials: "key",
  allows: { write: "copy and move files and folders" },
  makesVersions: true,
  parse: parseCommitRequest,
  async handle(context, request) {
    const fields = await readFields(context, copyBody);
    const basis = await commitBasis(withVersion(request, fields), "copy", fields);
    const destination = parseDestination(request.path, fields);
    const committed = await commit(context, {
      kind: "copy",
      ...basis,
      ...destination,
    });
    const { path, version } = committed.file;
    return writeResponse("copy_file", committed, `Copied; version ${version} of ${path}.`);
  },
  openapi: {
    id: "copyFile",
    summary: "Copy a file to another path",
    description: "The current content becomes the next version of the destination. Moves no bytes.",
    body: copyBody,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "FILE_ALREADY_EXISTS", "QUOTA_EXCEEDED"],
    example: { body: { destination: "notes/copy.md" }, data: [EXAMPLE_RECORD] },
  },
});
