/** GET /files/{path}: content, file record (`?metadata`) or version list (`?versions`). */
import { z } from "zod";
import type { Context } from "../context.ts";
import { jsonContent } from "../domain/json_content.ts";
import { isPresent, pick } from "../domain/query.ts";
import { fail } from "../errors.ts";
import { isBinary, isText } from "../operations/presentation.ts";
import { readSegments } from "../operations/read_segments.ts";
import { streamed } from "../operations/streamed.ts";
import type { Content } from "../ports.ts";
import { filePath } from "../request_path.ts";
import { type Operation, success } from "../respond.ts";
import { validate } from "../validate.ts";
import type { Route } from "./route.ts";
import { fileRecord, pageLimit, pageOffset, readRecord, wholeNumber } from "./schemas.ts";

const query = z.object({
  version: wholeNumber(1).optional(),
  encoding: z.enum(["utf8", "base64"]).optional(),
  limit: pageLimit,
  offset: pageOffset,
});

const flags = z.object({
  metadata: z.literal("").optional().meta({ description: "Present: the file record, without content." }),
  versions: z.literal("").optional().meta({ description: "Present: the version list." }),
});

const versionList = z.object({
  file: z.object({ path: z.string(), mimeType: z.string() }),
  versions: z.array(
    z.object({
      version: z.int().min(1),
      size: z.int().min(0),
      createdAt: z.iso.datetime(),
      updatedAt: z.iso.datetime(),
    }),
  ),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
}).meta({ id: "VersionList" });

/** `versions` beats `metadata` beats content. */
export function readOperation(context: Context): Operation {
  if (context.query.has("versions")) return "get_file_versions";
  return context.query.has("metadata") ? "get_file_metadata" : "read_file";
}

async function handle(context: Context): Promise<Response> {
  const { gate, metadata } = context;
  const { path, mode, page } = await gate.check(() => {
    const path = filePath(context, "/files/");
    const versions = isPresent(context.query, "versions");
    const record = isPresent(context.query, "metadata");
    // A version list is of all versions: it ignores which one is asked for.
    const names = Object.keys(query.shape).filter((name) => !versions || name !== "version");
    const page = validate(query, pick(context.query, names));
    return { path, mode: versions ? "versions" : record ? "record" : "content", page };
  });
  if (mode === "versions") {
    const list = gate.take(await metadata.versions(gate.caller, path, page.limit, page.offset));
    return success("get_file_versions", list, `${list.versions.length} of ${list.total} versions.`);
  }
  if (mode === "record") {
    const file = gate.take(await metadata.record(gate.caller, path, page.version));
    return success("get_file_metadata", file, `Version ${file.version}.`);
  }
  const content = gate.take(await metadata.content(gate.caller, path, page.version));
  return await contentResponse(context, content, page.encoding);
}

function contentResponse(
  context: Context,
  content: Content,
  encoding: "utf8" | "base64" | undefined,
): Promise<Response> {
  if (encoding === "utf8" && !isText(content)) {
    fail("NOT_TEXT", "The content is not UTF-8; read it as base64.", { version: content.file.version });
  }
  return streamed(jsonContent({
    record: { ...content.file },
    segments: readSegments(context.segments, content.segments),
    isBase64: encoding ? encoding === "base64" : isBinary(content),
    operation: "read_file",
    message: `Version ${content.file.version}.`,
  }));
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
    query: query.extend(flags.shape),
    answer: z.union([readRecord, fileRecord, versionList]),
    errors: [
      "INVALID_PATH",
      "VALIDATION_ERROR",
      "FILE_NOT_FOUND",
      "VERSION_NOT_FOUND",
      "NOT_TEXT",
      "CONTENT_CORRUPT",
    ],
  },
};
