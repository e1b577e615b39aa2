/** PUT /files/append/{path}: add to the end of an existing file. */
import { z } from "zod";
import { replaceContent } from "../files/write_content.ts";
import { contentField } from "../http/body.ts";
import { written } from "../http/respond.ts";
import type { Route } from "./route.ts";
import { BODY_ERRORS, fileRecord, rawQuery, WRITE_ERRORS, WRITE_HEADERS } from "./schemas.ts";

const body = z.object({ content: contentField(1), isBase64: z.boolean().nullish() });

export const append: Route = {
  method: "PUT",
  pattern: "/files/append/*",
  operation: "write_file",
  needsKey: true,
  handle: async (context) => {
    const committed = await replaceContent(context, "append", "/files/append/", body);
    return written("write_file", committed, `Appended; this is version ${committed.file.version}.`);
  },
  document: {
    id: "appendFile",
    summary: "Add to the end of an existing file",
    description: "Reads nothing and loses nothing: appends at the same time all arrive, in some order.",
    query: rawQuery,
    body,
    takesRaw: true,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "QUOTA_EXCEEDED"],
  },
};
