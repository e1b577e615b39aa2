/** PUT /files/edit/{path}: replace old strings by new ones. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { type CommitRequest, parseCommitRequest } from "../files/commit_request.ts";
import { EDIT_STRING_LENGTH_MAX, EDITS_BYTES_MAX, EDITS_MAX } from "../limits.ts";
import { editFile, previewEdit } from "../files/edit_file.ts";
import type { Edit } from "../files/edit_text.ts";
import type { Answer } from "../ports/answer.ts";
import type { EditBase } from "../ports/files.ts";
import { isLargeBody } from "../http/body.ts";
import { readBody, textField } from "../http/json_request.ts";
import { successInSlices, writeResponse } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { defineRoute } from "./route.ts";
import { BODY_ERRORS, editRecord, EXAMPLE_RECORD, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

const pair = z.object({
  oldString: textField(1, EDIT_STRING_LENGTH_MAX),
  newString: textField(0, EDIT_STRING_LENGTH_MAX).meta({
    description: "Literal: no character has a special meaning.",
  }),
  replaceAll: z.boolean().nullish().meta({
    description: "Replace every occurrence instead of the only one.",
  }),
  expectedOccurrences: z.int().min(1).nullish()
    .meta({
      description:
        "The edit is refused unless the old string occurs exactly this often; all occurrences are replaced.",
    }),
});
const dryRun = z.boolean().nullish().meta({ description: "Return the diff without creating a version." });

function isChange(fields: { oldString: string; newString: string }): boolean {
  return fields.oldString !== fields.newString;
}
const noChange = { path: ["newString"], message: "must differ from oldString" };

const one = pair.extend({ dryRun }).refine(isChange, noChange);
const several = z.object({
  edits: z.array(pair.refine(isChange, noChange)).min(1).max(EDITS_MAX)
    .meta({ description: "Instead of one pair: applied in order, all or none." }),
  oldString: z.null("must not be combined with edits").optional(),
  newString: z.null("must not be combined with edits").optional(),
  dryRun,
});

/** The edits of a body, which has `edits` or is one edit itself. */
function parseBody(fields: unknown): { edits: Edit[]; dryRun: boolean } {
  const hasEdits = typeof fields === "object" && fields !== null && "edits" in fields &&
    fields.edits !== null;
  const { edits, dryRun } = hasEdits ? validate(several, fields) : singleEdit(validate(one, fields));
  return {
    edits: edits.map((edit) => ({
      oldString: edit.oldString,
      newString: edit.newString,
      replaceAll: edit.replaceAll ?? false,
      expectedOccurrences: edit.expectedOccurrences ?? undefined,
    })),
    dryRun: dryRun ?? false,
  };
}

function singleEdit(edit: z.infer<typeof one>) {
  return { edits: [edit], dryRun: edit.dryRun };
}

/**
 * Reading the file authorizes the request; before a large body that comes first. With an idempotency key it must wait
 * for the body, which is part of the fingerprint.
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
  // What is wrong with the body comes before a file that does not exist.
  if (!base.ok && base.refusal.code !== "FILE_NOT_FOUND") gate.throwRefusal(base.refusal);
  return base;
}

async function handle(context: Context, request: CommitRequest): Promise<Response> {
  const isLarge = isLargeBody(context.request.headers);
  const { fields, authorization: base } = await readBody(
    context,
    z.unknown(),
    isLarge ? () => authorize(context, request) : null,
    EDITS_BYTES_MAX,
  );
  const { edits, dryRun } = parseBody(fields);
  const asked = { ...request, edits };
  if (dryRun) {
    const preview = await previewEdit(context, asked, base);
    return await successInSlices("write_file", preview, "Nothing was written.");
  }
  const committed = await editFile(context, asked, base);
  return writeResponse("write_file", committed, `Edited; this is version ${committed.file.version}.`);
}

const preview = editRecord.extend({
  dryRun: z.literal(true),
  diff: z.string(),
  additions: z.int().min(0),
  deletions: z.int().min(0),
}).meta({ id: "EditPreview" });

export const edit = defineRoute({
  method: "PUT",
  pattern: "/files/edit/*",
  operation: "write_file",
  credentials: "key",
  // Its errors reveal content of the file.
  scopes: ["read", "write"],
  parse: parseCommitRequest,
  handle,
  openapi: {
    id: "editFile",
    summary: "Replace old strings by new ones",
    description:
      "Edits of one file take turns. What is appended meanwhile is kept; a file that is rewritten " +
      "meanwhile is edited again, and after some tries it is VERSION_CONFLICT.",
    body: z.union([one, several]),
    headers: WRITE_HEADERS,
    answer: z.union([editRecord, preview]),
    errors: [
      ...WRITE_ERRORS,
      ...BODY_ERRORS,
      "VERSION_CONFLICT",
      "QUOTA_EXCEEDED",
      "NOT_TEXT",
      "STRING_NOT_FOUND",
      "STRING_NOT_UNIQUE",
      "DIFF_TOO_LARGE",
      "SEARCH_TOO_BROAD",
    ],
    example: {
      body: { oldString: "ship it", newString: "ship it well" },
      data: [{ ...EXAMPLE_RECORD, replacements: 1 }],
    },
  },
});
