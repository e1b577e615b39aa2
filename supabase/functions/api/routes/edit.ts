/** PUT /files/edit/{path}: replace old strings by new ones. */
import { z } from "zod";
import { idempotencyKey, preconditions } from "../http/conditions.ts";
import type { Context } from "../context.ts";
import { EDIT_STRING_LENGTH_MAX, EDITS_BYTES_MAX, EDITS_MAX } from "../limits.ts";
import { editFile, previewEdit } from "../files/edit_file.ts";
import type { Edit } from "../files/edit_text.ts";
import type { Answer } from "../ports/answer.ts";
import type { EditBase } from "../ports/files.ts";
import { isLargeBody, readBody, textField } from "../http/body.ts";
import { filePath } from "../http/request_path.ts";
import { success, written } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import type { Route } from "./route.ts";
import { BODY_ERRORS, editRecord, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

const pair = z.object({
  oldString: textField(1, EDIT_STRING_LENGTH_MAX),
  newString: textField(0, EDIT_STRING_LENGTH_MAX).meta({
    description: "Literal: no character has a meaning of its own.",
  }),
  replaceAll: z.boolean().nullish().meta({
    description: "Replace every occurrence instead of the only one.",
  }),
  expectedOccurrences: z.int().min(1).nullish()
    .meta({ description: "Refuse unless the old string occurs exactly so often; all of them are replaced." }),
});
const dryRun = z.boolean().nullish().meta({ description: "Answer the diff and make no version." });

function isChange(fields: { oldString: string; newString: string }): boolean {
  return fields.oldString !== fields.newString;
}
const noChange = { path: ["newString"], message: "is the same as oldString" };

const one = pair.extend({ dryRun }).refine(isChange, noChange);
const several = z.object({
  edits: z.array(pair.refine(isChange, noChange)).min(1).max(EDITS_MAX)
    .meta({ description: "Instead of the pair: applied in order, all or none." }),
  oldString: z.null("cannot come with edits").optional(),
  newString: z.null("cannot come with edits").optional(),
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

async function handle(context: Context): Promise<Response> {
  const { gate, metadata, request } = context;
  const conditions = await gate.check(() => ({
    path: filePath(context, "/files/edit/"),
    idempotencyKey: idempotencyKey(request.headers),
    ...preconditions(request.headers, false),
  }));
  // Reading the file admits the key; before a large body that comes first. With an idempotency key it must wait
  // for the body, which is part of what the key stands for.
  let first: Answer<EditBase> | undefined;
  const admit = async () => {
    if (conditions.idempotencyKey !== undefined) return await gate.admit();
    first = gate.note(await metadata.editBase(gate.caller, conditions.path, undefined));
    const isRefused = !first.ok && first.refusal.code !== "FILE_NOT_FOUND";
    if (isRefused) gate.take(first);
  };
  const fields = await readBody(
    context,
    z.unknown(),
    isLargeBody(request.headers) ? admit : null,
    EDITS_BYTES_MAX,
  );
  const { edits, dryRun } = await gate.check(() => parseBody(fields));
  const asked = { ...conditions, edits };
  if (dryRun) return success("write_file", await previewEdit(context, asked, first), "Nothing was written.");
  const committed = await editFile(context, asked, first);
  return written("write_file", committed, `Edited; this is version ${committed.file.version}.`);
}

const preview = editRecord.extend({
  dryRun: z.literal(true),
  diff: z.string(),
  additions: z.int().min(0),
  deletions: z.int().min(0),
}).meta({ id: "EditPreview" });

export const edit: Route = {
  method: "PUT",
  pattern: "/files/edit/*",
  operation: "write_file",
  needsKey: true,
  // Its refusals tell what is in the file.
  scopes: ["read", "write"],
  handle,
  document: {
    id: "editFile",
    summary: "Replace old strings by new ones",
    description: "An edit that meets a newer version is tried again on it, then VERSION_CONFLICT.",
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
    ],
  },
};
