/**
 * The response to a read as JSON text, produced while the segments are read, so that the whole content is never in
 * memory. It equals `JSON.stringify` of the whole response.
 */
import { Buffer } from "node:buffer";
import { concatenate } from "../runtime/bytes.ts";
import { ENCODED_AT_ONCE_BYTES } from "../limits.ts";

export interface ReadAnswer {
  /** The record's fields, in order; `content` follows them. */
  readonly record: Readonly<Record<string, unknown>>;
  /** The content in order. Each piece is UTF-8 by itself, unless `isBase64`. */
  readonly segments: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Send the content as base64, with `isBase64: true`. */
  readonly isBase64: boolean;
  /** Called with each segment once it is encoded. */
  readonly free?: (segment: Uint8Array) => void;
  readonly operation: string;
  readonly message: string;
}

/**
 * The envelope of a read, in UTF-8, in pieces with at most ENCODED_AT_ONCE_BYTES of content. The opening is part of the
 * first piece, so the consumer of that piece knows that the content can be read. Throws what `segments` throws.
 */
export async function* jsonContent(answer: ReadAnswer): AsyncGenerator<Uint8Array, void, void> {
  const encoder = new TextEncoder();
  const fields = JSON.stringify(answer.record).slice(1, -1);
  let opening: Uint8Array | null = encoder.encode(
    `{"success":true,"data":{${fields}${fields === "" ? "" : ","}"content":"`,
  );
  for await (const piece of encodeContent(answer)) {
    yield opening ? concatenate([opening, piece]) : piece;
    opening = null;
  }
  const { operation, message } = answer;
  const end = JSON.stringify({ operation, message }).slice(1);
  const closing = encoder.encode(`"${answer.isBase64 ? ',"isBase64":true' : ""}},${end}`);
  yield opening ? concatenate([opening, closing]) : closing;
}

async function* encodeContent(
  { segments, isBase64, free }: ReadAnswer,
): AsyncGenerator<Uint8Array, void, void> {
  const base64 = new Base64Stream();
  // A part may end within a character, which the decoder then keeps for the next one.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const encoder = new TextEncoder();
  for await (const segment of segments) {
    for (let from = 0; from < segment.length; from += ENCODED_AT_ONCE_BYTES) {
      const part = segment.subarray(from, from + ENCODED_AT_ONCE_BYTES);
      if (isBase64) yield base64.push(part);
      else yield encoder.encode(JSON.stringify(decoder.decode(part, { stream: true }))).subarray(1, -1);
    }
    free?.(segment);
  }
  if (isBase64) yield base64.finish();
}

/** Base64 (RFC 4648 section 4) of the bytes, padded, as ASCII. `btoa` took 15 times as long. */
export function encodeBase64(bytes: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = bytes;
  return new TextEncoder().encode(Buffer.from(buffer, byteOffset, length).toString("base64"));
}

/** Encodes bytes that arrive in chunks; the results joined are the base64 of the chunks joined. */
export class Base64Stream {
  #carried = new Uint8Array(0);

  push(bytes: Uint8Array): Uint8Array {
    const all = this.#carried.length === 0 ? bytes : concatenate([this.#carried, bytes]);
    const whole = all.length - all.length % 3;
    this.#carried = all.slice(whole);
    return encodeBase64(all.subarray(0, whole));
  }

  /** The remaining bytes, with padding. */
  finish(): Uint8Array {
    return encodeBase64(this.#carried);
  }
}
