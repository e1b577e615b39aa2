/** Reads JSON bodies: authorizes before large ones, decodes strictly, validates, and extracts the content as a stream. */
import { Buffer } from "node:buffer";
import { z } from "zod";
import { fail, failField } from "../errors.ts";
import { BODY_BYTES_MAX, CONTENT_LENGTH_MAX } from "../limits.ts";
import { drainAndDetach } from "../runtime/bytes.ts";
import { Work } from "../runtime/work.ts";
import {
  type BodySource,
  declaredBytes,
  ensureJson,
  isLargeBody,
  openBody,
  RAW_BODY_HINT,
  requestChunks,
} from "./body.ts";
import { type JsonBodyOptions, readJsonBody } from "./json_body.ts";
import { ContentText } from "./json_string.ts";
import { validate } from "./validate.ts";

/** What is wrong with text that Base64Decoder refuses. */
export const NOT_BASE64 = "must be base64 in the standard alphabet, with padding";
/** Units of work for each character of base64. */
const BASE64_UNITS = 4;

/** The schema of the field `content`, which is a string for clients and documents, and ContentText for handlers. */
export function contentField(minLength: number) {
  return z.instanceof(ContentText, {
    error: ({ input }) => input === undefined ? "is required" : "must be a string",
  })
    .refine((content) => content.isWellFormed, "contains a lone surrogate, which cannot be stored as UTF-8")
    .refine(
      (content) => content.length >= minLength,
      minLength === 1 ? "must not be empty" : `must have at least ${minLength} characters`,
    )
    .meta({ type: "string", minLength, maxLength: CONTENT_LENGTH_MAX });
}

/** A string of an edit: bounded, and storable as UTF-8. */
export function textField(minLength: number, maxLength: number) {
  return z.string().min(minLength).max(maxLength)
    .refine((text) => text.isWellFormed(), "contains a lone surrogate, which cannot be stored as UTF-8");
}

/**
 * Reads and validates a JSON body. Throws UNSUPPORTED_MEDIA_TYPE, CONTENT_TOO_LARGE, INVALID_JSON or VALIDATION_ERROR.
 * A request with a large body is authorized before.
 */
export async function readBody<Fields>(
  source: BodySource,
  schema: z.ZodType<Fields>,
  options?: Pick<JsonBodyOptions, "fieldsBytesMax" | "stringBytesMax">,
): Promise<Fields> {
  const { headers } = source.request;
  ensureJson(headers);
  const declared = declaredBytes(headers);
  if (declared !== null && declared > BODY_BYTES_MAX) {
    fail("CONTENT_TOO_LARGE", `A JSON body has at most ${BODY_BYTES_MAX} bytes. ${RAW_BODY_HINT}`, {
      limitBytes: BODY_BYTES_MAX,
      sizeBytes: declared,
    });
  }
  const body = isLargeBody(headers) ? await openBody(source, declared) : undefined;
  const fields = await readJsonBody(requestChunks(source, "INVALID_JSON"), {
    limitBytes: BODY_BYTES_MAX,
    streamedField: "content",
    ...(body && { hold: (bytes) => body.hold(bytes) }),
    ...options,
  });
  return validate(schema, fields);
}

/** The same; authorizes a request with a large body itself. */
export async function readFields<Fields>(
  source: BodySource & { readonly gate: { authorize(): Promise<unknown> } },
  schema: z.ZodType<Fields>,
  options?: Pick<JsonBodyOptions, "fieldsBytesMax">,
): Promise<Fields> {
  if (isLargeBody(source.request.headers)) await source.gate.authorize();
  return await readBody(source, schema, options);
}

/**
 * The bytes to store. Frees base64 text while decoding it. Throws CONTENT_TOO_LARGE, or VALIDATION_ERROR where
 * `isBase64` and the text is not base64.
 */
export async function contentBytes(content: ContentText, isBase64: boolean): Promise<readonly Uint8Array[]> {
  if (content.length > CONTENT_LENGTH_MAX) {
    fail("CONTENT_TOO_LARGE", `\`content\` has at most ${CONTENT_LENGTH_MAX} characters. ${RAW_BODY_HINT}`, {
      limit: CONTENT_LENGTH_MAX,
      length: content.length,
    });
  }
  if (!isBase64) return content.chunks;
  const decoder = new Base64Decoder();
  const decoded: Uint8Array[] = [];
  const work = new Work();
  for (const chunk of drainAndDetach(content.chunks)) {
    if (work.add(BASE64_UNITS * chunk.length)) await work.pause();
    decoded.push(decoder.push(chunk) ?? failField("content", NOT_BASE64));
  }
  if (!decoder.finish()) failField("content", NOT_BASE64);
  return decoded;
}

/**
 * Decodes base64 (RFC 4648 section 4, the standard alphabet with padding) that arrives in chunks cut anywhere. It is
 * strict except for what common encoders emit and common decoders accept: whitespace anywhere (`base64 FILE` wraps
 * lines), and nonzero bits after the last byte (`QQ==` and `QR==` are both "A", as for `atob`, Node and Python).
 */
export class Base64Decoder {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Characters that do not form bytes yet: 0 to 3. */
  #rest = "";
  #hasEnded = false;

  /** The bytes that are complete now; null if the text is not base64, after which nothing may be pushed. */
  push(text: Uint8Array): Uint8Array | null {
    const characters = this.#rest + this.#decoder.decode(text).replaceAll(/[ \t\r\n]+/g, "");
    if (this.#hasEnded && characters !== "") return null;
    const whole = characters.slice(0, characters.length - characters.length % 4);
    this.#rest = characters.slice(whole.length);
    const padding = whole.endsWith("==") ? 2 : whole.endsWith("=") ? 1 : 0;
    this.#hasEnded ||= padding > 0;
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(whole)) return null;
    // A copy: the memory of a Buffer may be a part of a pool, and the bytes are detached once they are stored.
    const bytes = new Uint8Array(Buffer.from(whole, "base64"));
    return bytes.length === whole.length / 4 * 3 - padding ? bytes : null;
  }

  /** Whether base64 may end here. */
  finish(): boolean {
    return this.#rest === "";
  }
}
