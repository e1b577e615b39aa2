/**
 * PUT /files/copy/{path}: the current content becomes the next version of another path. PUT /files/move/{path}: the
 * same, and the source gets a tombstone in the same commit. PUT /files/restore/{path}: an earlier version becomes the
 * latest one.
 */
import { z } from "zod";
import { readFields } from "../http/json_request.ts";
import { failField } from "../errors.ts";
import { commit, commitBasis, parseCommitRequest, withVersion } from "../files/commit.ts";
import { checkPath } from "../http/path.ts";
import { INTEGER_MAX } from "../limits.ts";
import { written } from "../http/respond.ts";
import { defineRoute, type Definition } from "../route.ts";
import type { OpenapiProperties } from "../openapi_properties.ts";
import { ifVersionField, WRITE_HEADERS } from "./schemas.ts";

const body = z.object({
  destination: z.string().meta({ minLength: 1, description: "The path of the copied or moved file." }),
  overwrite: z.boolean().nullish().meta({
    description: "Add a version if a file exists at the destination.",
  }),
  ...ifVersionField,
});

/** `prefix` precedes the field's name in an error. Throws INVALID_PATH, or VALIDATION_ERROR for the source path. */
export function parseDestination(path: string, fields: z.infer<typeof body>, prefix = "") {
  const destination = checkPath(fields.destination);
  if (destination === path) failField(`${prefix}destination`, "must differ from the source path");
  return { destination, overwrite: fields.overwrite ?? false };
}

function placing(kind: "copy" | "move", verb: string, openapi: OpenapiProperties): Definition {
  const operation = `${kind}_file` as const;
  return defineRoute({
    operation,
    allows: { write: "copy and move files and folders" },
    makesVersions: true,
    parse: parseCommitRequest,
    async handle(context, request) {
      const fields = await readFields(context, body);
      const basis = await commitBasis(withVersion(request, fields), kind, fields);
      const destination = parseDestination(request.path, fields);
      const committed = await commit(context, { kind, ...basis, ...destination });
      const { path, version } = committed.file;
      return written(committed, `${verb}; version ${version} of ${path}.`);
    },
    openapi: {
      body,
      headers: WRITE_HEADERS,
      answer: "fileRecord",
      errors: ["FILE_NOT_FOUND", "FILE_ALREADY_EXISTS", "QUOTA_EXCEEDED"],
      ...openapi,
    },
  });
}

export const copy = placing("copy", "Copied", {
  summary: "Copy a file to another path",
  description: "The current content becomes the next version of the destination. Copies no bytes.",
  example: { destination: "notes/copy.md" },
});

export const move = placing("move", "Moved", {
  summary: "Move a file to another path",
  description: "A copy and a tombstone of the source, in one transaction. Moves no bytes.",
  example: { destination: "archive/plan.md" },
});

const restoring = z.object({ version: z.int().min(1).max(INTEGER_MAX), ...ifVersionField });

export const restore = defineRoute({
  operation: "restore_file",
  allows: { write: "restore earlier versions" },
  makesVersions: true,
  parse: parseCommitRequest,
  async handle(context, request) {
    const fields = await readFields(context, restoring);
    const basis = await commitBasis(withVersion(request, fields), "restore", fields);
    const committed = await commit(context, { kind: "restore", ...basis, version: fields.version });
    return written(committed, `Restored; this is version ${committed.file.version}.`);
  },
  openapi: {
    summary: "Make an earlier version the latest one",
    description: "Adds a version with that content and type, even to a deleted file. Copies no bytes.",
    body: restoring,
    headers: WRITE_HEADERS,
    answer: "fileRecord",
    errors: ["FILE_NOT_FOUND", "VERSION_NOT_FOUND", "VERSION_REDACTED", "VERSION_DELETED", "QUOTA_EXCEEDED"],
    example: { version: 1 },
  },
});
