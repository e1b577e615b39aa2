/** PUT /files/overwrite/{path}: replace the content of an existing file. */
import { z } from "zod";
import { replaceContent } from "../files/write_content.ts";
import { contentField } from "../http/body.ts";
import { written } from "../http/respond.ts";
import type { Route } from "./route.ts";
import { BODY_ERRORS, fileRecord, rawQuery, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

const body = z.object({ content: contentField(0), isBase64: z.boolean().nullish() });

export const overwrite: Route = {
  method: "PUT",
  pattern: "/files/overwrite/*",
  operation: "write_file",
  needsKey: true,
  handle: async (context) => {
    const committed = await replaceContent(context, "overwrite", "/files/overwrite/", body);
    return written(
      "write_file",
      committed,
      `Overwrote the content; this is version ${committed.file.version}.`,
    );
  },
  document: {
    id: "overwriteFile",
    summary: "Replace the content of an existing file",
    description: "Never creates a file; its type stays.",
    query: rawQuery,
    body,
    takesRaw: true,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "QUOTA_EXCEEDED"],
  },
};
