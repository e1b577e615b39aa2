/** PUT /files/append/{path} and PUT /files/overwrite/{path}: add to an existing file, or replace its content. */
import { z } from "zod";
import { parseCommitRequest } from "../files/commit.ts";
import { writeContent } from "../files/write_content.ts";
import { isRawPut } from "../http/body.ts";
import { contentField } from "../http/json_request.ts";
import { written } from "../http/respond.ts";
import { defineRoute, type Definition } from "../route.ts";
import type { OpenapiProperties } from "../openapi_properties.ts";
import { ifVersionField, parseIfVersion, rawQuery, WRITE_HEADERS } from "./schemas.ts";

function changing(
  kind: "append" | "overwrite",
  minLength: number,
  did: string,
  openapi: OpenapiProperties,
): Definition {
  const body = z.object({
    content: contentField(minLength),
    isBase64: z.boolean().nullish(),
    ...ifVersionField,
  });
  return defineRoute({
    operation: "write_file",
    allows: { write: "create and change files" },
    makesVersions: true,
    parse(data) {
      const isRaw = isRawPut(data.query, data.headers);
      return { kind, isRaw, ...parseCommitRequest(data), ...parseIfVersion(data, !isRaw) };
    },
    async handle(context, request) {
      const committed = await writeContent(context, body, request);
      return written(committed, `${did}; this is version ${committed.file.version}.`);
    },
    openapi: {
      query: rawQuery,
      body,
      takesRaw: true,
      headers: WRITE_HEADERS,
      answer: "fileRecord",
      errors: ["FILE_NOT_FOUND", "QUOTA_EXCEEDED"],
      ...openapi,
    },
  });
}

export const append = changing("append", 1, "Appended", {
  id: "appendFile",
  summary: "Add content to the end of an existing file",
  description: "Concurrent appends all take effect, in some order.",
  example: { content: "- sleep\n" },
});

export const overwrite = changing("overwrite", 0, "Overwrote the content", {
  id: "overwriteFile",
  summary: "Replace the content of an existing file",
  description: "Never creates a file; the type is unchanged.",
  example: { content: "# Plan\n" },
});
