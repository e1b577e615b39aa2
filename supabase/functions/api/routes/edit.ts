/** PUT /files/edit/{path}: replace old strings with new ones. */
import { z } from "zod";
import { editPreview, editRecord } from "../contract/files.ts";
import type { Context } from "../context.ts";
import { type CommitRequest, parseCommitRequest } from "../files/commit.ts";
import { EDITS_BYTES_MAX } from "../limits.ts";
import { editFile, previewEdit } from "../files/edit_file.ts";
import type { Answer } from "../ports/answer.ts";
import type { EditBase } from "../ports/files.ts";
import { isLargeBody } from "../http/body.ts";
import { readBody } from "../http/json_request.ts";
import { type Success, successInSlices, written } from "../http/respond.ts";
import { EDIT_ERRORS, editBody, parseEdits } from "./edit_body.ts";
import { defineRoute } from "../route.ts";
import { WRITE_HEADERS } from "./schemas.ts";

/**
 * Reading the file authorizes the request; for a large body this happens before the body is read. With an idempotency
 * key it must wait for the body, which is part of the fingerprint.
 */
async function authorize(
  { gate, metadata }: Context,
  { path, idempotencyKey }: CommitRequest,
): Promise<Answer<EditBase> | undefined> {
  if (idempotencyKey !== undefined) {
    await gate.authorize();
    return undefined;
  }
  const base = gate.observe(await metadata.editBase(gate.caller, path, undefined));
  // Errors of the body are reported before a missing file.
  if (!base.ok && base.refusal.code !== "FILE_NOT_FOUND") gate.throwRefusal(base.refusal);
  return base;
}

async function handle(context: Context, request: CommitRequest): Promise<Response | Success> {
  const base = isLargeBody(context.request.headers) ? await authorize(context, request) : undefined;
  const fields = await readBody(context, z.unknown(), { fieldsBytesMax: EDITS_BYTES_MAX });
  const { dryRun, ...edit } = parseEdits(fields);
  const asked = { ...request, ...edit };
  if (dryRun) {
    const preview = await previewEdit(context, asked, base);
    return await successInSlices("write_file", preview, "Nothing was written.");
  }
  const committed = await editFile(context, asked, base);
  return written(committed, `Edited; this is version ${committed.file.version}.`);
}

export const edit = defineRoute({
  operation: "write_file",
  allows: { write: "create and change files" },
  makesVersions: true,
  // Also `read`, since errors of an edit reveal content of the file.
  scopes: ["read", "write"],
  parse: parseCommitRequest,
  handle,
  openapi: {
    id: "editFile",
    summary: "Replace old strings with new ones",
    description:
      "The edit applies to the version that it read. If another write comes first, the service tries the edit again on " +
      "the new version, until the request's deadline of 20 seconds; then the answer is VERSION_CONFLICT.",
    body: editBody,
    headers: WRITE_HEADERS,
    answer: z.union([editRecord, editPreview]),
    errors: [...EDIT_ERRORS, "DIFF_TOO_LARGE"],
    example: { oldString: "ship it", newString: "ship it well" },
  },
});
