/** GET /files/{path}: content, file record (`?metadata`) or version list (`?versions`). */
import { z } from "zod";
import { ensureReadConditions, entityTag, isNotModified } from "../http/conditions.ts";
import type { Context } from "../context.ts";
import type { Operation } from "../contract/service.ts";
import { wantsRaw } from "../http/accept.ts";
import { parseLines } from "../files/line_window.ts";
import { pick, type Query } from "../http/query.ts";
import type { RequestData } from "../http/request_data.ts";
import { jsonResponse, rawResponse } from "../files/content_response.ts";
import { notModified, type Success, success } from "../http/respond.ts";
import { validate } from "../http/validate.ts";
import { defineRoute } from "../route.ts";
import { pageLimit, pageOffset, pastMoment, wholeNumber } from "./schemas.ts";
import { counted } from "../runtime/counted.ts";

/** A parameter without a value. */
const without = (name: string) => z.literal("", `must have no value; write \`?${name}\``).optional();

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
  at: pastMoment("The file"),
  metadata: without("metadata").meta({ description: "Present: the file record, without content." }),
  versions: without("versions").meta({ description: "Present: the version list." }),
}).refine((fields) => fields.at === undefined || fields.version === undefined, {
  path: ["at"],
  message: "cannot be combined with version",
});

/** The errors of reading a version. */
export const UNREADABLE = [
  "FILE_NOT_FOUND",
  "VERSION_NOT_FOUND",
  "VERSION_REDACTED",
  "CONTENT_CORRUPT",
] as const;

/** `versions` takes precedence over `metadata`, and that over content. */
function operationOf(query: Query): Operation {
  if (query.has("versions")) return "get_file_versions";
  return query.has("metadata") ? "get_file_metadata" : "read_file";
}

function parse({ params, query: given, headers }: RequestData) {
  const operation = operationOf(given);
  // A version list covers all versions, so `version` is ignored.
  const names = Object.keys(query.shape).filter((name) =>
    operation !== "get_file_versions" || name !== "version"
  );
  const parameters = validate(query, pick(given, names));
  ensureReadConditions(headers);
  return { path: params.path, operation, ...parameters };
}

async function handle(context: Context, request: ReturnType<typeof parse>): Promise<Response | Success> {
  if (request.operation === "read_file") return await readContent(context, request);
  const { gate, metadata, request: { headers } } = context;
  const { path, version, limit, offset, at } = request;
  if (request.operation === "get_file_versions") {
    const list = gate.unwrap(await metadata.versions(gate.caller, path, limit, offset, at));
    return { data: list, message: `${list.versions.length} of ${counted(list.total, "version")}.` };
  }
  const file = gate.unwrap(await metadata.record(gate.caller, path, version, at));
  const tag = entityTag(file, "m");
  if (isNotModified(headers, file, "m")) return notModified(tag);
  const response = success(request.operation, { data: file, message: `Version ${file.version}.`, tag });
  response.headers.set("Vary", "Accept");
  return response;
}

async function readContent(
  context: Context,
  { path, version, encoding, lines, at }: ReturnType<typeof parse>,
): Promise<Response> {
  const { gate, metadata, request: { headers } } = context;
  const content = gate.unwrap(await metadata.content(gate.caller, path, version, at));
  const isRaw = wantsRaw(headers.get("accept")) && lines === undefined;
  const representation = isRaw ? "r" : "j";
  if (isNotModified(headers, content.file, representation)) {
    return notModified(entityTag(content.file, representation));
  }
  if (isRaw) return await rawResponse(context, content);
  return await jsonResponse(context, content, encoding, lines);
}

export const read = defineRoute({
  operation: "read_file",
  operationOf,
  allows: { read: "read files and their versions", admin: "see which key did what" },
  parse,
  handle,
  openapi: {
    summary: "Return content, file record (`?metadata`) or versions (`?versions`)",
    description:
      "`operation` of the answer tells which it is. With `Accept: application/octet-stream` the bytes " +
      "themselves with the file's own type, whole or one range of them (`Range`, `If-Range`).",
    query,
    headers: ["If-None-Match", "Range", "If-Range"],
    returnsRaw: true,
    answer: [
      ["read_file", "readRecord"],
      ["get_file_metadata", "fileRecord"],
      ["get_file_versions", "versionList"],
    ],
    errors: [...UNREADABLE, "RANGE_NOT_SATISFIABLE", "NOT_TEXT"],
  },
});
