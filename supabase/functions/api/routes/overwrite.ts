/** PUT /files/overwrite/{path}: replace the content of an existing file. */
import { z } from "zod";
import { replaceContent } from "../operations/replace_content.ts";
import { contentField } from "../request_body.ts";
import { success } from "../respond.ts";
import type { Route } from "./route.ts";
import { fileRecord } from "./schemas.ts";

const body = z.object({ content: contentField(0), isBase64: z.boolean().nullish() });

export const overwrite: Route = {
  method: "PUT",
  pattern: "/files/overwrite/*",
  operation: "write_file",
  needsKey: true,
  handle: async (context) => {
    const file = await replaceContent(context, "overwrite", "/files/overwrite/", body);
    return success("write_file", file, `Overwrote the content; this is version ${file.version}.`);
  },
  document: {
    id: "overwriteFile",
    summary: "Replace the content of an existing file",
    description: "Never creates a file; its type stays.",
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
