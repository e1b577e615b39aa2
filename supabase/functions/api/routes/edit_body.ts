/** The body of an edit: one pair of strings, or several. */
import { z } from "zod";
import type { Edit } from "../files/edit_text.ts";
import { textField } from "../http/json_request.ts";
import { validate } from "../http/validate.ts";
import { EDIT_STRING_LENGTH_MAX, EDITS_MAX } from "../limits.ts";
import { ifVersionField } from "./schemas.ts";

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

/** For the documents: `parseEdits` decides which of the two forms a body has, so that it can name the errors. */
export const editBody = z.union([one, several]);

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
  const { edits, dryRun, ifVersion } = hasEdits
    ? validate(several, fields, prefix)
    : singleEdit(validate(one, fields, prefix));
  return {
    edits: edits.map((edit) => ({
      oldString: edit.oldString,
      newString: edit.newString,
      replaceAll: edit.replaceAll ?? false,
      expectedOccurrences: edit.expectedOccurrences ?? undefined,
    })),
    dryRun: dryRun ?? false,
    ifVersion: ifVersion ?? undefined,
  };
}

function singleEdit(edit: z.infer<typeof one>) {
  return { edits: [edit], dryRun: edit.dryRun, ifVersion: edit.ifVersion };
}
