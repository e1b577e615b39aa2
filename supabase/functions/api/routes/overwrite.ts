/** PUT /files/overwrite/{path}: replace the content of an existing file. */
import { z } from "zod";
import { fileRecord } from "../contract/files.ts";
import { parseReplacement, writeContent } from "../files/write_content.ts";
import { contentField } from "../http/json_request.ts";
import { writeResponse } from "../http/respond.ts";
import {
  BODY_ERRORS,
  EXAMPLE_RECORD,
  ifVersionField,
  parseIfVersion,
  rawQuery,
  WRITE_ERRORS,
  WRITE_HEADERS,
} from "./schemas.ts";
import { defineRoute } from "../route.ts";

const body = z.object({ content: contentField(0), isBase64: z.boolean().nullish(), ...ifVersionField });

export const overwrite = defineRoute({
  method: "PUT",
  pattern: "/files/overwrite/*",
  operation: "write_file",
  credentials: "key",
  allows: { write: "create and change files" },
  makesVersions: true,
  parse(data) {
    const request = parseReplacement("overwrite", data);
    return { ...request, ...parseIfVersion(data, !request.isRaw) };
  },
  async handle(context, request) {
    const committed = await writeContent(context, body, request);
    const message = `Overwrote the content; this is version ${committed.file.version}.`;
    return writeResponse("write_file", committed, message);
  },
  openapi: {
    id: "overwriteFile",
    summary: "Replace the content of an existing file",
    description: "Never creates a file; the type is unchanged.",
    query: rawQuery,
    body,
    takesRaw: true,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "QUOTA_EXCEEDED"],
    example: { body: { content: "# Plan\n" }, data: [EXAMPLE_RECORD] },
  },
});
