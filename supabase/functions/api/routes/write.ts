/** POST /files: create a file or add a version. */
import { z } from "zod";
import { idempotency, idempotencyKey, preconditions } from "../http/conditions.ts";
import type { Context } from "../context.ts";
import { drainAndDetach } from "../runtime/detach.ts";
import { detectMediaType } from "../files/media_type.ts";
import { checkPath } from "../http/path.ts";
import { pick } from "../http/query.ts";
import { commit } from "../files/commit.ts";
import { storeContent } from "../files/store_content.ts";
import { refuseOverTier } from "../files/file_size_limit.ts";
import type { Committed, Preconditions } from "../ports/commit.ts";
import type { Segment } from "../ports/segments.ts";
import { namedMediaType, storeRawBody } from "../http/raw_body.ts";
import { contentBytes, contentField, isLargeBody, readBody } from "../http/body.ts";
import { written } from "../http/respond.ts";
import type { Route } from "./route.ts";
import { fileRecord, mediaType, WRITE_HEADERS } from "./schemas.ts";

const body = z.object({
  path: z.string().meta({ minLength: 1, description: "Slashes on every platform, no leading slash." }),
  content: contentField(0),
  contentType: mediaType.nullish().meta({ description: "Detected from the extension when left out." }),
  isBase64: z.boolean().nullish(),
});

const query = z.object({
  path: z.string().optional().meta({ description: "Present: the body is the bytes of this file." }),
  contentType: mediaType.optional().meta({ description: "The type of a raw upload; else its Content-Type." }),
});

interface Conditions extends Preconditions {
  readonly key: string | undefined;
}

async function handle(context: Context): Promise<Response> {
  const { gate } = context;
  const conditions = await gate.check(() => ({
    ...preconditions(context.request.headers, true),
    key: idempotencyKey(context.request.headers),
  }));
  const committed = context.query.has("path")
    ? await writeRaw(context, conditions)
    : await writeJson(context, conditions);
  return written("write_file", committed, `Wrote version ${committed.file.version}.`);
}

/** Whether a body may be stored on the strength of what this isolate remembers of the key. */
function isKnown(context: Context): boolean {
  return context.gate.grant !== undefined && !isLargeBody(context.request.headers);
}

async function writeJson(context: Context, conditions: Conditions): Promise<Committed> {
  const { gate } = context;
  const fields = await readBody(context, body, isKnown(context) ? null : () => gate.admit());
  const { content, ...named } = fields;
  const { path, chunks } = await gate.check(() => ({
    path: checkPath(fields.path),
    chunks: contentBytes(content, fields.isBase64 ?? false),
  }));
  refuseOverTier(gate, chunks.reduce((total, chunk) => total + chunk.length, 0));
  const segments = await storeContent(context, drainAndDetach(chunks));
  return await commitWrite(context, conditions, path, fields.contentType ?? undefined, named, segments);
}

async function writeRaw(context: Context, conditions: Conditions): Promise<Committed> {
  const { gate } = context;
  const { path, type } = await gate.check(() => ({
    path: checkPath(pick(context.query, ["path"]).path ?? ""),
    type: namedMediaType(context),
  }));
  if (!isKnown(context)) await gate.admit();
  const limitBytes = gate.isAdmitted ? gate.grant?.maxFileBytes ?? null : null;
  const { segments } = await gate.check(() => storeRawBody(context, 0, limitBytes));
  return await commitWrite(context, conditions, path, type, { raw: true, type }, segments);
}

async function commitWrite(
  context: Context,
  { key, ifMatch, ifNoneMatch }: Conditions,
  path: string,
  type: string | undefined,
  fields: unknown,
  segments: readonly Segment[],
): Promise<Committed> {
  return await commit(context, {
    kind: "write",
    path,
    commitId: crypto.randomUUID(),
    segments,
    mimeType: type ?? detectMediaType(path, segments.every((segment) => segment.isText)),
    ifMatch,
    ifNoneMatch,
    idempotency: await idempotency(key, "write", path, fields, segments),
  });
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
    description: "With `?path=` the body is the file's bytes, up to the tier's size.",
    query,
    body,
    takesRaw: true,
    headers: [...WRITE_HEADERS, "If-None-Match"],
    answer: fileRecord,
    errors: [
      "INVALID_PATH",
      "INVALID_JSON",
      "VALIDATION_ERROR",
      "FILE_ALREADY_EXISTS",
      "IDEMPOTENCY_KEY_IN_USE",
      "PRECONDITION_FAILED",
      "CONTENT_TOO_LARGE",
      "QUOTA_EXCEEDED",
      "UNSUPPORTED_MEDIA_TYPE",
      "IDEMPOTENCY_KEY_REUSED",
    ],
  },
};
