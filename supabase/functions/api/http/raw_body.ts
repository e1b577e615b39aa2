/** Bodies that are the content itself, streamed into storage. */
import { z } from "zod";
import { isMediaType, type MediaType } from "../files/media_type.ts";
import { pick } from "./query.ts";
import { fail } from "../errors.ts";
import type { Context } from "../context.ts";
import { BODY_BUDGET_WAIT_MILLISECONDS, RAW_UPLOAD_BYTES } from "../limits.ts";
import { storeContent } from "../files/store_content.ts";
import type { Segment } from "../ports/segments.ts";
import { declaredBytes, isJsonType, mediaTypeOf, refuseEncoded, requestChunks } from "./body.ts";
import { mediaType } from "../routes/schemas.ts";
import { validate } from "./validate.ts";

/** Whether the body of a PUT is the bytes themselves: `?raw`, or a media type that is neither JSON nor a form. */
export function isRawPut(context: Context): boolean {
  const { headers } = context.request;
  const type = mediaTypeOf(headers);
  return context.query.has("raw") || !(isJsonType(headers) || type === "multipart/form-data");
}

const query = z.object({ contentType: mediaType.optional() });

/** The type a raw upload names: the parameter `contentType`, else its Content-Type where that is one of the 27. */
export function namedMediaType(context: Context): MediaType | undefined {
  const { contentType } = validate(query, pick(context.query, ["contentType"]));
  if (contentType !== undefined) return contentType;
  const type = mediaTypeOf(context.request.headers);
  return isMediaType(type) ? type : undefined;
}

/** Stored segments and their total. */
export interface RawContent {
  readonly segments: readonly Segment[];
  readonly sizeBytes: number;
}

/**
 * Stores the body as it comes. `existingBytes` is what the file has before it. Throws UNSUPPORTED_MEDIA_TYPE for an
 * encoded body and CONTENT_TOO_LARGE as soon as that is known: from Content-Length, or once that much has come.
 */
export async function storeRawBody(
  context: Context,
  existingBytes: number,
  limitBytes: number | null,
): Promise<RawContent> {
  const { request } = context;
  refuseEncoded(request.headers);
  let sizeBytes = 0;
  const count = (bytes: number) => {
    sizeBytes += bytes;
    if (limitBytes === null || existingBytes + sizeBytes <= limitBytes) return;
    fail("CONTENT_TOO_LARGE", "The file would be larger than the project's tier allows.", {
      limitBytes,
      sizeBytes: existingBytes + sizeBytes,
      tier: context.gate.grant?.tier,
    });
  };
  count(declaredBytes(request.headers) ?? 0);
  sizeBytes = 0;
  context.released(
    await context.budget.acquire(RAW_UPLOAD_BYTES, BODY_BUDGET_WAIT_MILLISECONDS, request.signal),
  );
  async function* counted() {
    for await (const chunk of requestChunks(request, "VALIDATION_ERROR")) {
      count(chunk.length);
      yield chunk;
    }
  }
  return { segments: await storeContent(context, counted()), sizeBytes };
}
