/** POST /files: create a file or add a version. */
import { z } from "zod";
import { mediaType } from "../contract/media_types.ts";
import { failField } from "../errors.ts";
import { namedMediaType, writeContent, type WriteRequest } from "../files/write_content.ts";
import { idempotencyKey, preconditions } from "../http/conditions.ts";
import { contentField } from "../http/json_request.ts";
import { checkPath } from "../http/path.ts";
import { isSet, pick } from "../http/query.ts";
import type { RequestData } from "../http/request_data.ts";
import { written } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { ifVersionField, parseIfVersion, rawQuery, WRITE_HEADERS } from "./schemas.ts";
import { defineRoute } from "../route.ts";

const body = z.object({
  path: z.string().meta({ minLength: 1, description: "Slashes on every platform, no leading slash." }),
  content: contentField(0),
  contentType: mediaType.nullish().meta({ description: "Detected from the extension when omitted." }),
  isBase64: z.boolean().nullish(),
  ...ifVersionField,
});

const query = z.object({
  path: z.string().optional().meta({ description: "Present: the body is this file's bytes." }),
  contentType: mediaType.optional().meta({
    description: "The type of a raw upload; by default its Content-Type.",
  }),
  ...rawQuery.shape,
});

/** With `path` in the query the body is the bytes themselves; otherwise JSON, with the path in it. */
function parse(data: RequestData): WriteRequest {
  const { headers } = data;
  const isRaw = data.query.has("path");
  if (isSet(data.query, "raw") && !isRaw) failField("path", "is required if the body is the file's bytes");
  const conditions = {
    ...preconditions(headers, true),
    ...parseIfVersion(data, !isRaw),
    idempotencyKey: idempotencyKey(headers),
  };
  if (!isRaw) return { kind: "write", path: undefined, isRaw, ...conditions };
  const path = checkPath(pick(data.query, ["path"]).path ?? "");
  const { contentType = namedMediaType(headers) } = validate(query, pick(data.query, ["contentType"]));
  return { kind: "write", path, isRaw, contentType, ...conditions };
}

export const write = defineRoute({
  operation: "write_file",
  allows: { write: "create and change files" },
  makesVersions: true,
  parse,
  async handle(context, request) {
    const committed = await writeContent(context, body, request);
    return written(committed, `Wrote version ${committed.file.version}.`);
  },
  openapi: {
    summary: "Create a file or add a version",
    description: "With `?path=` the body is the file's bytes, up to the tier's maximum file size.",
    query,
    body,
    takesRaw: true,
    headers: [...WRITE_HEADERS, "If-None-Match"],
    answer: "fileRecord",
    errors: ["INVALID_PATH", "QUOTA_EXCEEDED"],
    example: { path: "notes/plan.md", content: "# Plan\n- ship it\n" },
  },
});
