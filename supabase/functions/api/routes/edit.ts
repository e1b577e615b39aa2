/** PUT /files/edit/{path}: replace old strings with new ones, one pair of them or several. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { type CommitRequest, parseCommitRequest } from "../files/commit.ts";
import { editFile, previewEdit } from "../files/edit_file.ts";
import type { Edit } from "../files/edit_text.ts";
import { isLargeBody } from "../http/body.ts";
import { readBody, textField } from "../http/json_request.ts";
import { successInSlices, written } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { EDIT_STRING_LENGTH_MAX, EDITS_BYTES_MAX, EDITS_MAX } from "../limits.ts";
import type { Answer } from "../ports/answer.ts";
import type { EditBase } from "../ports/files.ts";
import { defineRoute } from "../route.ts";
import { ifVersionField, WRITE_HEADERS } from "./schemas.ts";

const pair = z.object({
  oldString: textField(1, EDIT_STRING_LENGTH_MAX),
  newString: textField(0, EDIT_STRING_LENGTH_MAX).meta({
    description: "Literal: no character has a special meaning.",
  }),
  replaceAll: z.boolean().nullish().meta({
    description: "Replace every occurrence. By default the string must occur exactly once.",
  }),
  expectedOccurrences: z.int().min(1).nullish()
    .meta({
      description: "Replaces all occurrences, but refuses the edit if there are not exactly this many.",
    }),
});
const only = (name: string) => z.null(`must not be combined with ${name}`).optional();
const dryRun = z.boolean().nullish().meta({ description: "Return the diff without creating a version." });

function isChange(fields: { oldString: string; newString: string }): boolean {
  return fields.oldString !== fields.newString;
}
const noChange = { path: ["newString"], message: "must differ from oldString" };

const one = pair.extend({ edits: only("oldString"), dryRun, ...ifVersionField }).refine(isChange, noChange);
const several = z.object({
  edits: z.array(pair.refine(isChange, noChange)).min(1).max(EDITS_MAX)
    .meta({ description: "Instead of one pair: edits that are applied in order, all or none." }),
  oldString: only("edits"),
  newString: only("edits"),
  replaceAll: only("edits"),
  expectedOccurrences: only("edits"),
  dryRun,
  ...ifVersionField,
});

/** The fields of an edit in a batch; `parseEdits` checks their combination. */
export const editFields = {
  ...pair.partial().shape,
  edits: z.array(pair).min(1).max(EDITS_MAX).nullish().meta({
    description: "Instead of one pair: a list of edits.",
  }),
  dryRun: z.literal(false, "a batch has no dry run").nullish(),
};

export const EDIT_ERRORS = [
  "FILE_NOT_FOUND",
  "VERSION_CONFLICT",
  "QUOTA_EXCEEDED",
  "NOT_TEXT",
  "STRING_NOT_FOUND",
  "STRING_NOT_UNIQUE",
  "SEARCH_TOO_BROAD",
] as const;

/** The edits of a body, which has `edits` or is one edit itself; `prefix` precedes the names of invalid fields. */
export function parseEdits(
  fields: unknown,
  prefix = "",
): { edits: Edit[]; dryRun: boolean; ifVersion: number | undefined } {
  const hasEdits = typeof fields === "object" && fields !== null && "edits" in fields &&
    fields.edits !== null;
  const given = hasEdits ? validate(several, fields, prefix) : validate(one, fields, prefix);
  return {
    edits: (given.edits ?? [given]).map((edit) => ({
      oldString: edit.oldString,
      newString: edit.newString,
      replaceAll: edit.replaceAll ?? false,
      expectedOccurrences: edit.expectedOccurrences ?? undefined,
    })),
    dryRun: given.dryRun ?? false,
    ifVersion: given.ifVersion ?? undefined,
  };
}

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

export const edit = defineRoute({
  operation: "write_file",
  allows: { write: "create and change files" },
  makesVersions: true,
  // Also `read`, since errors of an edit reveal content of the file.
  scopes: ["read", "write"],
  parse: parseCommitRequest,
  async handle(context, request) {
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
  },
  openapi: {
    id: "editFile",
    summary: "Replace old strings with new ones",
    description:
      "The edit applies to the version that it read. If another write comes first, the service tries the edit again on " +
      "the new version, until the request's deadline of 20 seconds; then the answer is VERSION_CONFLICT.",
    // `parseEdits` decides which of the two forms a body has, so that it can name the errors.
    body: z.union([one, several]),
    headers: WRITE_HEADERS,
    answer: "editAnswer",
    errors: [...EDIT_ERRORS, "DIFF_TOO_LARGE"],
    example: { oldString: "ship it", newString: "ship it well" },
  },
});
