/** POST /files: create a file or add a version. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { detectMediaType } from "../domain/media_type.ts";
import { checkPath } from "../domain/path.ts";
import { fail } from "../errors.ts";
import { commit } from "../operations/commit.ts";
import { storeContent } from "../operations/store_content.ts";
import { contentBytes, contentField, isLargeBody, readBody } from "../request_body.ts";
import { success } from "../respond.ts";
import type { Route } from "./route.ts";
import { fileRecord, mediaType } from "./schemas.ts";

const body = z.object({
  path: z.string().meta({ minLength: 1, description: "Slashes on every platform, no leading slash." }),
  content: contentField(0),
  contentType: mediaType.nullish().meta({ description: "Detected from the extension when left out." }),
  isBase64: z.boolean().nullish(),
});

async function handle(context: Context): Promise<Response> {
  const { gate } = context;
  const isKnown = gate.grant !== undefined && !isLargeBody(context.request.headers);
  const fields = await readBody(context, body, isKnown ? null : () => gate.admit());
  const { path, chunks } = await gate.check(() => ({
    path: checkPath(fields.path),
    chunks: contentBytes(fields.content, fields.isBase64 ?? false),
  }));
  const sizeBytes = chunks.reduce((total, chunk) => total + chunk.length, 0);
  const limitBytes = gate.grant?.maxFileBytes ?? null;
  // Only an answer of this request may refuse; a remembered one is left to the commit.
  if (gate.isAdmitted && limitBytes !== null && sizeBytes > limitBytes) {
    fail("CONTENT_TOO_LARGE", "The file would be larger than the project's tier allows.", {
      limitBytes,
      sizeBytes,
      tier: gate.grant?.tier,
    });
  }
  const segments = await storeContent(context, chunks);
  const mimeType = fields.contentType ?? detectMediaType(path, segments.every((segment) => segment.isText));
  const { file } = await commit(context, {
    kind: "write",
    path,
    commitId: crypto.randomUUID(),
    segments,
    mimeType,
  });
  return success("write_file", file, `Wrote version ${file.version}.`);
}

export const write: Route = {
  method: "POST",
  pattern: "/files",
  operation: "write_file",
  needsKey: true,
  handle,
  document: {
    id: "writeFile",
    summary: "Create a file or add a version",
    body,
    answer: fileRecord,
    errors: [
      "INVALID_PATH",
      "INVALID_JSON",
      "VALIDATION_ERROR",
      "UNSUPPORTED_MEDIA_TYPE",
      "CONTENT_TOO_LARGE",
    ],
  },
};
