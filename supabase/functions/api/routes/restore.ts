/** PUT /files/restore/{path}: an earlier version becomes the latest one. */
import { z } from "zod";
import { fileRecord } from "../contract/files.ts";
import { INTEGER_MAX } from "../limits.ts";
import { readFields } from "../http/json_request.ts";
import { commit, commitBasis, parseCommitRequest, withVersion } from "../files/commit.ts";
import { written } from "../http/respond.ts";
import { ifVersionField, WRITE_HEADERS } from "./schemas.ts";
import { defineRoute } from "../route.ts";

const body = z.object({ version: z.int().min(1).max(INTEGER_MAX), ...ifVersionField });

export const restore = defineRoute({
  operation: "restore_file",
  allows: { write: "restore earlier versions" },
  makesVersions: true,
  parse: parseCommitRequest,
  async handle(context, request) {
    const fields = await readFields(context, body);
    const basis = await commitBasis(withVersion(request, fields), "restore", fields);
    const committed = await commit(context, { kind: "restore", ...basis, version: fields.version });
    return written(committed, `Restored; this is version ${committed.file.version}.`);
  },
  openapi: {
    summary: "Make an earlier version the latest one",
    description: "Adds a version with that content and type, even to a deleted file. Copies no bytes.",
    body,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: ["FILE_NOT_FOUND", "VERSION_NOT_FOUND", "VERSION_REDACTED", "VERSION_DELETED", "QUOTA_EXCEEDED"],
    example: { version: 1 },
  },
});
