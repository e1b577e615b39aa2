/** JSON bodies: authorization before large ones, strict decoding, validation, and the content streamed out. */
import { z } from "zod";
import { fail } from "../errors.ts";
import { BODY_BUDGET_WAIT_MILLISECONDS, BODY_BYTES_MAX, CONTENT_LENGTH_MAX } from "../limits.ts";
import { drainAndDetach } from "../runtime/detach.ts";
import { Base64Decoder } from "./base64.ts";
import { type BodySource, declaredBytes, ensureJson, isLargeBody, requestChunks } from "./body.ts";
import { readJsonBody } from "./json_body.ts";
import { validate } from "./validate.ts";

/** The string `content` of a body, in UTF-8: it is never held as one JavaScript string. */
export class ContentText {
  constructor(
    readonly chunks: readonly Uint8Array[],
    /** UTF-16 code units. */
    readonly length: number,
    readonly isWellFormed: boolean,
  ) {}
}

/** The schema of the field `content`: a string for clients and documents, ContentText for handlers. */
export function contentField(minLength: number) {
  return z.instanceof(ContentText, {
    error: ({ input }) => input === undefined ? "Required" : "Invalid input: expected string",
  })
    .refine((content) => content.isWellFormed, "contains a lone surrogate, which cannot be stored as UTF-8")
    .refine((content) => content.length >= minLength, `must be at least ${minLength} long`)
    .meta({ type: "string", minLength, maxLength: CONTENT_LENGTH_MAX });
}

/** A string of an edit: bounded, and storable as UTF-8. */
export function textField(minLength: number, maxLength: number) {
  return z.string().min(minLength).max(maxLength)
    .refine((text) => text.isWellFormed(), "contains a lone surrogate, which cannot be stored as UTF-8");
}

/** The validated body, and what the authorization before it returned, if there was one. */
export interface ReadBody<Fields, Authorization> {
  readonly fields: Fields;
  readonly authorization: Authorization | undefined;
}

/**
 * Reads and validates a JSON body. `authorize` is called first; null where the database need not be called before this
 * body. Throws UNSUPPORTED_MEDIA_TYPE, CONTENT_TOO_LARGE, INVALID_JSON or VALIDATION_ERROR.
 */
export async function readBody<Fields, Authorization = undefined>(
  source: BodySource,
  schema: z.ZodType<Fields>,
  authorize: (() => Promise<Authorization>) | null,
  fieldsBytesMax?: number,
): Promise<ReadBody<Fields, Authorization>> {
  const { request } = source;
  const authorization = await authorize?.();
  ensureJson(request.headers);
  await reserveMemory(source);
  const { fields, streamed } = await readJsonBody(requestChunks(request, "INVALID_JSON"), {
    limitBytes: BODY_BYTES_MAX,
    streamedField: "content",
    maxStreamedLength: CONTENT_LENGTH_MAX,
    ...(fieldsBytesMax !== undefined && { fieldsBytesMax }),
  });
  const content = streamed?.kind === "text"
    ? new ContentText(streamed.chunks, streamed.length, streamed.wellFormed)
    : streamed?.value;
  const isObject = typeof fields === "object" && fields !== null && !Array.isArray(fields);
  return { fields: validate(schema, isObject && streamed ? { ...fields, content } : fields), authorization };
}

/** Throws CONTENT_TOO_LARGE for a declared size over the limit; waits for memory for a large body. */
async function reserveMemory({ request, bodyBudget, onEnd }: BodySource): Promise<void> {
  const declared = declaredBytes(request.headers);
  if (declared !== null && declared > BODY_BYTES_MAX) {
    fail("CONTENT_TOO_LARGE", "The body is too large.", { limitBytes: BODY_BYTES_MAX, sizeBytes: declared });
  }
  if (!isLargeBody(request.headers)) return;
  const bytes = declared ?? BODY_BYTES_MAX;
  onEnd(await bodyBudget.acquire(bytes, BODY_BUDGET_WAIT_MILLISECONDS, request.signal));
}

/**
 * The bytes to store. Base64 is detached while it is decoded. Throws CONTENT_TOO_LARGE, or VALIDATION_ERROR where
 * `isBase64` and the text is not base64.
 */
export function contentBytes(content: ContentText, isBase64: boolean): readonly Uint8Array[] {
  if (content.length > CONTENT_LENGTH_MAX) {
    fail("CONTENT_TOO_LARGE", "The content is too long for one request.", {
      limit: CONTENT_LENGTH_MAX,
      length: content.length,
    });
  }
  if (!isBase64) return content.chunks;
  const decoder = new Base64Decoder();
  const decoded: Uint8Array[] = [];
  for (const chunk of drainAndDetach(content.chunks)) {
    decoded.push(decoder.push(chunk) ?? throwInvalidBase64());
  }
  if (!decoder.finish()) throwInvalidBase64();
  return decoded;
}

function throwInvalidBase64(): never {
  const reason = "must be base64 in the standard alphabet, with padding";
  fail("VALIDATION_ERROR", `content: ${reason}`, { issues: [{ path: "content", reason }] });
}
