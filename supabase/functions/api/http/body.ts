/** Reading JSON bodies: media type, admission before large bodies, strict decoding, the content streamed out. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { Base64Decoder } from "./base64.ts";
import { drainAndDetach } from "../runtime/detach.ts";
import { readJsonBody } from "./json_body.ts";
import { type ErrorCode, fail } from "../errors.ts";
import {
  BODY_BUDGET_WAIT_MILLISECONDS,
  BODY_BYTES_MAX,
  BODY_IDLE_MILLISECONDS,
  CONTENT_LENGTH_MAX,
  DRAIN_MILLISECONDS,
  UNAUTHORIZED_BODY_BYTES_MAX,
} from "../limits.ts";
import { validate } from "./validate.ts";

/** The string `content` of a body, as UTF-8 that was never one whole string. */
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
    .refine((content) => content.isWellFormed, "has a lone surrogate, which cannot be stored as UTF-8")
    .refine((content) => content.length >= minLength, `must be at least ${minLength} long`)
    .meta({ type: "string", minLength, maxLength: CONTENT_LENGTH_MAX });
}

/** A string of an edit: bounded, and storable as UTF-8. */
export function textField(minLength: number, maxLength: number) {
  return z.string().min(minLength).max(maxLength)
    .refine((text) => text.isWellFormed(), "has a lone surrogate, which cannot be stored as UTF-8");
}

/** Types read as JSON: `curl -d` and `fetch` send the last two for any text. */
const JSON_TYPES = ["", "application/json", "text/plain", "application/x-www-form-urlencoded"];

/** The media type of the body in lower case, without parameters; "" where none is given. */
export function mediaTypeOf(headers: Headers): string {
  return (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Whether a body of this type is read as JSON. */
export function isJsonType(headers: Headers): boolean {
  const type = mediaTypeOf(headers);
  return JSON_TYPES.includes(type) || /^application\/[^/]+\+json$/.test(type);
}

/** Throws UNSUPPORTED_MEDIA_TYPE for a compressed body. */
export function refuseEncoded(headers: Headers): void {
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() === "identity") return;
  fail("UNSUPPORTED_MEDIA_TYPE", "Compressed request bodies are not read.");
}

function checkMediaType(headers: Headers): void {
  refuseEncoded(headers);
  const charset = /;\s*charset="?([^";]*)/i.exec(headers.get("content-type") ?? "")?.[1]?.trim()
    .toLowerCase();
  if (!isJsonType(headers) || (charset !== undefined && charset !== "utf-8" && charset !== "utf8")) {
    fail("UNSUPPORTED_MEDIA_TYPE", "The body must be JSON in UTF-8, with Content-Type application/json.");
  }
}

/** The declared size of the body in bytes; null where it comes in chunks. */
export function declaredBytes(headers: Headers): number | null {
  const declared = headers.get("content-length");
  return declared === null ? null : Number(declared);
}

/** Reads the body of a request that was refused unread. */
export async function drainBody(request: Request): Promise<void> {
  if (request.body !== null && !request.bodyUsed) await drain(request.body.getReader());
}

/**
 * Reads what is left of a body that nobody wants, up to BODY_BYTES_MAX and for DRAIN_MILLISECONDS: where the server
 * closes the connection on a client that still sends, the client may see a broken connection instead of the refusal.
 */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => reader.cancel().catch(() => {}), DRAIN_MILLISECONDS);
  try {
    for (let bytes = 0; bytes < BODY_BYTES_MAX;) {
      const { value, done } = await reader.read();
      if (done) return;
      bytes += value.length;
    }
  } catch {
    // The client is gone.
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => {});
  }
}

/** The next chunk. Rejects where the body breaks off, or nothing of it comes for BODY_IDLE_MILLISECONDS. */
async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const idle = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("nothing came")), BODY_IDLE_MILLISECONDS);
  });
  try {
    return await Promise.race([reader.read(), idle]);
  } finally {
    clearTimeout(timer);
  }
}

/** The body in chunks. One that breaks off is refused with `code`; its client is mostly gone. */
export async function* requestChunks(
  request: Request,
  code: ErrorCode,
): AsyncGenerator<Uint8Array, void, void> {
  if (request.body === null) return;
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { value, done } = await nextChunk(reader).catch(() => fail(code, "The body broke off."));
      if (done) return;
      yield value;
    }
  } finally {
    await drain(reader);
  }
}

/** Whether the database must admit the key before this body is read. */
export function isLargeBody(headers: Headers): boolean {
  const declared = declaredBytes(headers);
  return declared === null || declared > UNAUTHORIZED_BODY_BYTES_MAX;
}

/**
 * The validated body. `admit` is called first where the key is not known well enough for this body. Throws
 * UNSUPPORTED_MEDIA_TYPE, INVALID_JSON, VALIDATION_ERROR or CONTENT_TOO_LARGE, in this order.
 */
export function readBody<T>(
  context: Context,
  schema: z.ZodType<T>,
  admit: (() => Promise<unknown>) | null,
  fieldsBytesMax?: number,
): Promise<T> {
  const { gate, request } = context;
  return gate.check(async () => {
    if (admit) await admit();
    checkMediaType(request.headers);
    const declared = declaredBytes(request.headers);
    if (declared !== null && declared > BODY_BYTES_MAX) {
      fail("CONTENT_TOO_LARGE", "The body is too large.", {
        limitBytes: BODY_BYTES_MAX,
        sizeBytes: declared,
      });
    }
    if (isLargeBody(request.headers)) {
      const bytes = Math.min(declared ?? BODY_BYTES_MAX, BODY_BYTES_MAX);
      context.released(await context.budget.acquire(bytes, BODY_BUDGET_WAIT_MILLISECONDS, request.signal));
    }
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
    return validate(schema, isObject && streamed ? { ...fields, content } : fields);
  });
}

/** The bytes to store; of base64 the text is gone then. Throws CONTENT_TOO_LARGE, or VALIDATION_ERROR where base64 was promised and did not come. */
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
  for (const chunk of drainAndDetach(content.chunks)) decoded.push(decoder.push(chunk) ?? refuseBase64());
  if (!decoder.finish()) refuseBase64();
  return decoded;
}

function refuseBase64(): never {
  const reason = "is not base64 of the standard alphabet with padding";
  fail("VALIDATION_ERROR", `content: ${reason}`, { issues: [{ path: "content", reason }] });
}
