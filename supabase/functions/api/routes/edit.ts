/** PUT /files/edit/{path}: replace an old string by a new one. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { EDIT_STRING_LENGTH_MAX } from "../limits.ts";
import { editFile } from "../operations/edit_file.ts";
import type { Answer, Content } from "../ports.ts";
import { isLargeBody, readBody, textField } from "../request_body.ts";
import { filePath } from "../request_path.ts";
import { success } from "../respond.ts";
import type { Route } from "./route.ts";
import { editRecord } from "./schemas.ts";

const body = z.object({
  oldString: textField(1, EDIT_STRING_LENGTH_MAX),
  newString: textField(0, EDIT_STRING_LENGTH_MAX),
  replaceAll: z.boolean().nullish().meta({
    description: "Replace every occurrence instead of the only one.",
  }),
}).refine((fields) => fields.oldString !== fields.newString, {
  path: ["newString"],
  message: "is the same as oldString",
});

async function handle(context: Context): Promise<Response> {
  const { gate } = context;
  const path = await gate.check(() => filePath(context, "/files/edit/"));
  // Reading the file admits the key; before a large body that comes first.
  let first: Answer<Content> | undefined;
  const admit = async () => {
    first = gate.note(await context.metadata.content(gate.caller, path));
    const isRefused = !first.ok && first.refusal.code !== "FILE_NOT_FOUND";
    if (isRefused) gate.take(first);
  };
  const fields = await readBody(context, body, isLargeBody(context.request.headers) ? admit : null);
  const { file, replacements } = await editFile(context, path, {
    oldString: fields.oldString,
    newString: fields.newString,
    replaceAll: fields.replaceAll ?? false,
  }, first);
  return success("write_file", { ...file, replacements }, `Edited; this is version ${file.version}.`);
}

export const edit: Route = {
  method: "PUT",
  pattern: "/files/edit/*",
  operation: "write_file",
  needsKey: true,
  handle,
  document: {
    id: "editFile",
    summary: "Replace an old string by a new one",
    description:
      "The new string is literal. An edit that meets a newer version is tried again on it, then VERSION_CONFLICT.",
    body,
    answer: editRecord,
    errors: [
      "INVALID_PATH",
      "INVALID_JSON",
      "VALIDATION_ERROR",
      "FILE_NOT_FOUND",
      "VERSION_CONFLICT",
      "UNSUPPORTED_MEDIA_TYPE",
      "CONTENT_TOO_LARGE",
      "NOT_TEXT",
      "STRING_NOT_FOUND",
      "STRING_NOT_UNIQUE",
    ],
  },
};
