/** Responses with content: JSON around the segments, raw bytes, or some lines. */
import { entityTag, isRangeFresh } from "../http/conditions.ts";
import { type ByteRange, parseRange } from "../http/byte_range.ts";
import { jsonContent } from "../http/json_content.ts";
import { type LineQuery, lineWindow, readLines } from "./line_window.ts";
import { fail } from "../errors.ts";
import { READ_AT_ONCE_BYTES } from "../limits.ts";
import type { Content } from "../ports/files.ts";
import { JSON_TYPE, taggedHeaders } from "../http/respond.ts";
import type { Deadline } from "../runtime/deadline.ts";
import { isBinary, isText } from "./presentation.ts";
import { readRange, readSegments, type SegmentSource } from "./read_segments.ts";
import { streamResponse } from "../http/stream_response.ts";

/** The request that is answered, and the source of the content. */
export interface ReadContext extends SegmentSource {
  readonly request: Request;
  readonly deadline: Deadline;
}

/** Yields the pieces, and extends the deadline with each of them. */
async function* extending(
  { deadline }: ReadContext,
  pieces: AsyncGenerator<Uint8Array, void, void>,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const piece of pieces) {
    deadline.extend(piece.length);
    yield piece;
  }
}

/** The content as JSON, whole or some lines of it. Throws NOT_TEXT and RANGE_NOT_SATISFIABLE. */
export function jsonResponse(
  context: ReadContext,
  content: Content,
  encoding: "utf8" | "base64" | undefined,
  lines: LineQuery | undefined,
): Promise<Response> {
  const { file } = content;
  const needsText = encoding === "utf8" || lines !== undefined;
  if (needsText && !isText(content)) {
    fail("NOT_TEXT", "The content is not UTF-8; read it as base64.", { version: file.version });
  }
  const window = lines && (lineWindow(content.segments, lines) ??
    fail("RANGE_NOT_SATISFIABLE", "The lines begin beyond the end of the file.", { version: file.version }));
  const init = {
    headers: { "Content-Type": JSON_TYPE, ...taggedHeaders(entityTag(file, "j")), Vary: "Accept" },
  };
  if (context.request.method === "HEAD") return Promise.resolve(new Response(null, init));
  const pieces = window ? readLines(context, window.parts) : readSegments(context, content.segments);
  return streamResponse(
    jsonContent({
      record: {
        ...file,
        ...(window &&
          { startLine: window.startLine, endLine: window.endLine, totalLines: window.totalLines }),
      },
      segments: extending(context, pieces),
      isBase64: encoding ? encoding === "base64" : isBinary(content),
      free: (segment) => context.segments.free(segment),
      operation: "read_file",
      message: `Version ${file.version}.`,
    }),
    file.size <= READ_AT_ONCE_BYTES,
    init,
  );
}

/** The bytes themselves, whole or one range of them, with `others` among the headers. Throws RANGE_NOT_SATISFIABLE. */
export async function rawResponse(
  context: ReadContext,
  content: Content,
  others: Readonly<Record<string, string>> = { Vary: "Accept" },
): Promise<Response> {
  const { file } = content;
  const { headers, method } = context.request;
  const asked = method === "GET" && isRangeFresh(headers, file)
    ? parseRange(headers.get("Range"), file.size)
    : null;
  if (asked === "unsatisfiable") {
    fail("RANGE_NOT_SATISFIABLE", "The range begins beyond the end of the file.", { sizeBytes: file.size }, {
      "Content-Range": `bytes */${file.size}`,
    });
  }
  const range: ByteRange = asked ?? { start: 0, end: file.size - 1 };
  const isTextual = file.mimeType.startsWith("text/") && isText(content);
  const init = {
    status: asked ? 206 : 200,
    headers: {
      "Content-Type": isTextual ? `${file.mimeType}; charset=utf-8` : file.mimeType,
      "Content-Length": String(range.end - range.start + 1),
      "Accept-Ranges": "bytes",
      ...taggedHeaders(entityTag(file, "r")),
      ...others,
      // A browser must not execute the bytes.
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "sandbox; default-src 'none'",
      ...(asked && { "Content-Range": `bytes ${range.start}-${range.end}/${file.size}` }),
    },
  };
  if (method === "HEAD" || file.size === 0) return new Response(null, init);
  return await streamResponse(
    extending(context, readRange(context, content.segments, range)),
    range.end - range.start + 1 <= READ_AT_ONCE_BYTES,
    init,
  );
}
