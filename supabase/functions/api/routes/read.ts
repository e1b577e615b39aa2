/** GET /files/{path}: content, file record (`?metadata`) or version list (`?versions`). */
import { z } from "zod";
import { checkReadConditions, isNotModified } from "../http/conditions.ts";
import type { Context } from "../context.ts";
import { wantsRaw } from "../http/accept.ts";
import { entityTag } from "../http/entity_tag.ts";
import { parseLines } from "../files/line_window.ts";
import { isPresent, pick } from "../http/query.ts";
import { jsonResponse, rawResponse } from "../files/content_response.ts";
import { filePath } from "../http/request_path.ts";
import { notModified, type Operation, success } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import type { Route } from "./route.ts";
import { fileRecord, pageLimit, pageOffset, readRecord, wholeNumber } from "./schemas.ts";

const query = z.object({
  version: wholeNumber(1).optional(),
  encoding: z.enum(["utf8", "base64"]).optional(),
  lines: z.string().transform((text, context) => {
    const lines = parseLines(text);
    if (lines) return lines;
    context.addIssue({ code: "custom", message: "must be from-to, from- or -n, counted from 1" });
    return z.NEVER;
  }).optional().meta({
    type: "string",
    description: "`from-to` (from 1, inclusive) or `-n` for the last n lines of a text.",
  }),
  limit: pageLimit,
  offset: pageOffset,
});

const flags = z.object({
  metadata: z.literal("").optional().meta({ description: "Present: the file record, without content." }),
  versions: z.literal("").optional().meta({ description: "Present: the version list." }),
});

const versionList = z.object({
  file: z.object({ path: z.string(), mimeType: z.string() }),
  versions: z.array(z.object({
    version: z.int().min(1),
    size: z.int().min(0),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    deleted: z.literal(true).optional().meta({ description: "A tombstone: the file was deleted." }),
  })),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
}).meta({ id: "VersionList" });

/** `versions` beats `metadata` beats content. */
export function readOperation(context: Context): Operation {
  if (context.query.has("versions")) return "get_file_versions";
  return context.query.has("metadata") ? "get_file_metadata" : "read_file";
}

function parse(context: Context) {
  const path = filePath(context, "/files/");
  const versions = isPresent(context.query, "versions");
  const record = isPresent(context.query, "metadata");
  // A version list is of all versions: it ignores which one is asked for.
  const names = Object.keys(query.shape).filter((name) => !versions || name !== "version");
  const parameters = validate(query, pick(context.query, names));
  checkReadConditions(context.request.headers);
  return { path, mode: versions ? "versions" : record ? "record" : "content", ...parameters };
}

async function handle(context: Context): Promise<Response> {
  const { gate, metadata, request } = context;
  const asked = await gate.check(() => parse(context));
  const { path, version } = asked;
  if (asked.mode === "versions") {
    const list = gate.take(await metadata.versions(gate.caller, path, asked.limit, asked.offset));
    return success("get_file_versions", list, `${list.versions.length} of ${list.total} versions.`);
  }
  if (asked.mode === "record") {
    const file = gate.take(await metadata.record(gate.caller, path, version));
    if (isNotModified(request.headers, file, "m")) return notModified(entityTag(file, "m"));
    const response = success("get_file_metadata", file, `Version ${file.version}.`);
    response.headers.set("ETag", entityTag(file, "m"));
    response.headers.set("Vary", "Accept");
    return response;
  }
  const content = gate.take(await metadata.content(gate.caller, path, version));
  const isRaw = wantsRaw(request.headers.get("accept")) && asked.lines === undefined;
  const representation = isRaw ? "r" : "j";
  if (isNotModified(request.headers, content.file, representation)) {
    return notModified(entityTag(content.file, representation));
  }
  if (isRaw) return await rawResponse(context, content);
  return await jsonResponse(context, content, asked.encoding, asked.lines);
}

export const read: Route = {
  method: "GET",
  pattern: "/files/*",
  operation: "read_file",
  needsKey: true,
  handle,
  document: {
    id: "readFile",
    summary: "Content, file record (`?metadata`) or versions (`?versions`)",
    description:
      "With `Accept: application/octet-stream` the bytes themselves, whole or one range of them (`Range`, `If-Range`).",
    query: query.extend(flags.shape),
    headers: ["If-None-Match", "Range", "If-Range"],
    answer: z.union([readRecord, fileRecord, versionList]),
    errors: [
      "INVALID_PATH",
      "VALIDATION_ERROR",
      "FILE_NOT_FOUND",
      "VERSION_NOT_FOUND",
      "RANGE_NOT_SATISFIABLE",
      "NOT_TEXT",
      "CONTENT_CORRUPT",
    ],
  },
};
