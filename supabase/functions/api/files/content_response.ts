/** Content on its way out: JSON around the segments, raw bytes, or some lines. */
import { isRangeFresh } from "../http/conditions.ts";
import type { Context } from "../context.ts";
import { type ByteRange, parseRange } from "../http/byte_range.ts";
import { entityTag } from "../http/entity_tag.ts";
import { jsonContent } from "../http/json_content.ts";
import { type LineQuery, lineWindow } from "./line_window.ts";
import { fail } from "../errors.ts";
import { READ_AT_ONCE_BYTES } from "../limits.ts";
import type { Content } from "../ports/files.ts";
import { JSON_HEADERS } from "../http/respond.ts";
import { isBinary, isText } from "./presentation.ts";
import { readLines, readRange, readSegments } from "./read_segments.ts";
import { streamed } from "../http/stream_response.ts";

/** How many pieces are made before the headers: all of a small content, else as many as hold the first segment. */
function piecesBeforeHeaders(sizeBytes: number, untilFirstSegment: number): number {
  return sizeBytes <= READ_AT_ONCE_BYTES ? Infinity : untilFirstSegment;
}

/** The content as JSON, whole or some lines of it. Throws NOT_TEXT and RANGE_NOT_SATISFIABLE. */
export function jsonResponse(
  context: Context,
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
  const init = { headers: { ...JSON_HEADERS, ETag: entityTag(file, "j"), Vary: "Accept" } };
  if (context.request.method === "HEAD") return Promise.resolve(new Response(null, init));
  return streamed(
    jsonContent({
      record: {
        ...file,
        ...(window &&
          { startLine: window.startLine, endLine: window.endLine, totalLines: window.totalLines }),
      },
      segments: window ? readLines(context, window.parts) : readSegments(context, content.segments),
      isBase64: encoding ? encoding === "base64" : isBinary(content),
      operation: "read_file",
      message: `Version ${file.version}.`,
    }),
    // The opening of the JSON comes before the first segment.
    piecesBeforeHeaders(file.size, 2),
    init,
  );
}

/** The bytes themselves, whole or one range of them. Throws RANGE_NOT_SATISFIABLE. */
export async function rawResponse(context: Context, content: Content): Promise<Response> {
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
      "Cache-Control": "private, no-cache",
      ETag: entityTag(file, "r"),
      Vary: "Accept",
      // Whatever the bytes are, a browser that is shown them runs nothing.
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "sandbox; default-src 'none'",
      ...(asked && { "Content-Range": `bytes ${range.start}-${range.end}/${file.size}` }),
    },
  };
  if (method === "HEAD" || file.size === 0) return new Response(null, init);
  return await streamed(
    readRange(context, content.segments, range),
    piecesBeforeHeaders(range.end - range.start + 1, 1),
    init,
  );
}
