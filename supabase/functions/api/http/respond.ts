/** Successes in the envelope, and JSON outside it. */
import { entityTag } from "./conditions.ts";
import type { Operation } from "../contract/service.ts";
import type { Committed } from "../ports/commit.ts";
import { isSecondHalf } from "../runtime/surrogates.ts";
import { nextSlice, Work } from "../runtime/work.ts";

export const JSON_TYPE = "application/json; charset=utf-8";
/** Headers of a success. The platform may compress its body. */
const JSON_HEADERS = { "Content-Type": JSON_TYPE, "Cache-Control": "private, no-cache" } as const;

/**
 * Headers of a response with an entity tag. `no-transform` (RFC 9111, 5.2.2.6) keeps runtime and proxies from
 * compressing it, which would weaken the tag and remove the length: decision 0014.
 */
export function taggedHeaders(tag: string) {
  return { ETag: tag, "Cache-Control": "private, no-cache, no-transform" } as const;
}

/** The success of a route, for the envelope. */
export interface Success {
  readonly data: unknown;
  readonly message: string;
  /** The entity tag of the representation. */
  readonly tag?: string;
  /** Whether the answer is that of an earlier request with the same Idempotency-Key. */
  readonly isReplayed?: boolean;
}

/** A success in the envelope. */
export function success(operation: Operation, { data, message, tag, isReplayed }: Success): Response {
  return new Response(bodyOf(JSON.stringify({ success: true, data, operation, message })), {
    headers: {
      ...JSON_HEADERS,
      ...tag !== undefined && taggedHeaders(tag),
      ...isReplayed && { "Idempotency-Replayed": "true" },
    },
  });
}

/** Strings are escaped in parts of this length. */
const PART_LENGTH = 65_536;
/** Units of work for each code unit that is escaped. */
const ESCAPE_UNITS = 6;

/** Like `success`, for a record with long strings, which it escapes in slices. */
export async function successInSlices(
  operation: Operation,
  data: Readonly<Record<string, unknown>>,
  message: string,
): Promise<Response> {
  const work = new Work();
  const fields: string[] = [];
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined) continue;
    const json = typeof value === "string" ? await escapeInSlices(value, work) : JSON.stringify(value);
    fields.push(`${JSON.stringify(name)}:${json}`);
  }
  const end = JSON.stringify({ operation, message }).slice(1);
  return new Response(bodyOf(`{"success":true,"data":{${fields.join()}},${end}`), { headers: JSON_HEADERS });
}

/**
 * A text as the body of a response. For clients that accept compression the runtime compresses a whole text without a
 * pause, so a long text is sent in parts.
 */
function bodyOf(text: string): BodyInit {
  if (text.length <= PART_LENGTH) return text;
  const encoder = new TextEncoder();
  let from = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (from > 0) await nextSlice();
      const to = endOfPart(text, from);
      controller.enqueue(encoder.encode(text.slice(from, to)));
      from = to;
      if (from === text.length) controller.close();
    },
  }, { highWaterMark: 0 });
}

/** The end of the part of a text that begins at `from`, which does not split a surrogate pair. */
export function endOfPart(text: string, from: number, length = PART_LENGTH): number {
  const to = Math.min(from + length, text.length);
  return isSecondHalf(text, to) ? to + 1 : to;
}

async function escapeInSlices(text: string, work: Work): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = endOfPart(text, from);
    parts.push(JSON.stringify(text.slice(from, to)).slice(1, -1));
    if (work.add(ESCAPE_UNITS * (to - from))) await work.pause();
    from = to;
  }
  return `"${parts.join("")}"`;
}

/** 304: the client already has this representation. */
export function notModified(tag: string): Response {
  return new Response(null, { status: 304, headers: { ...taggedHeaders(tag), Vary: "Accept" } });
}

/** The success of a write: the record, and its tag for the next precondition. */
export function written({ file, isReplayed }: Committed, message: string): Success {
  return { data: file, message, tag: entityTag(file, "j"), isReplayed };
}

/** A response with JSON text that is outside the envelope, and must not be cached. */
export function jsonText(text: string, status: number): Response {
  return new Response(bodyOf(text), {
    status,
    headers: { "Content-Type": JSON_TYPE, "Cache-Control": "no-store" },
  });
}

/** A response with JSON outside the envelope: health, documents, and other protocols. */
export function json(data: unknown, status = 200): Response {
  return jsonText(JSON.stringify(data), status);
}
