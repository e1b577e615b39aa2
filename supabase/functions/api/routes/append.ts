/** PUT /files/append/{path}: add to the end of an existing file. */
import { z } from "zod";
import { replaceContent } from "../operations/replace_content.ts";
import { contentField } from "../request_body.ts";
import { success } from "../respond.ts";
import type { Route } from "./route.ts";
import { fileRecord } from "./schemas.ts";

const body = z.object({ content: contentField(1), isBase64: z.boolean().nullish() });

export const append: Route = {
  method: "PUT",
  pattern: "/files/append/*",
  operation: "write_file",
  needsKey: true,
  handle: async (context) => {
    const file = await replaceContent(context, "append", "/files/append/", body);
    return success("write_file", file, `Appended; this is version ${file.version}.`);
  },
  document: {
    id: "appendFile",
    summary: "Add to the end of an existing file",
    description: "Reads nothing and loses nothing: appends at the same time all arrive, in some order.",
    body,
    answer: fileRecord,
    errors: [
      "INVALID_PATH",
      "INVALID_JSON",
      "VALIDATION_ERROR",
      "FILE_NOT_FOUND",
      "UNSUPPORTED_MEDIA_TYPE",
      "CONTENT_TOO_LARGE",
    ],
  },
};
