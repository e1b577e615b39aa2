/** PUT /files/append/{path}: add to the end of an existing file. */
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

const body = z.object({ content: contentField(1), isBase64: z.boolean().nullish(), ...ifVersionField });

export const append = defineRoute({
  method: "PUT",
  pattern: "/files/append/*",
  operation: "write_file",
  credentials: "key",
  allows: { write: "create and change files" },
  makesVersions: true,
  parse(data) {
    const request = parseReplacement("append", data);
    return { ...request, ...parseIfVersion(data, !request.isRaw) };
  },
  async handle(context, request) {
    const committed = await writeContent(context, body, request);
    return writeResponse("write_file", committed, `Appended; this is version ${committed.file.version}.`);
  },
  openapi: {
    id: "appendFile",
    summary: "Add to the end of an existing file",
    description: "Concurrent appends all take effect, in some order.",
    query: rawQuery,
    body,
    takesRaw: true,
    headers: WRITE_HEADERS,
    answer: fileRecord,
    errors: [...WRITE_ERRORS, ...BODY_ERRORS, "QUOTA_EXCEEDED"],
    example: { body: { content: "- sleep\n" }, data: [EXAMPLE_RECORD] },
  },
});
