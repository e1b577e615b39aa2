import { z } from "zod";
import type { FileRecord } from "../../contract/files.ts";
import type { Context } from "../../context.ts";
import { countLines, lineWindow, readLines } from "../../files/line_window.ts";
import { isText } from "../../files/presentation.ts";
import { readSegments } from "../../files/read_segments.ts";
import { encodeBase64 } from "../../http/json_content.ts";
import {
  MCP_IMAGE_BYTES_MAX,
  MCP_READ_BYTES_MAX,
  MCP_READ_LENGTH_DEFAULT,
  MCP_READ_LINES_DEFAULT,
  MCP_READ_LINES_MAX,
} from "../../limits.ts";
import type { Content } from "../../ports/files.ts";
import { concatenate } from "../../runtime/bytes.ts";
import { Work } from "../../runtime/work.ts";
import { path, whole } from "../arguments.ts";
import { ToolRefusal } from "../failures.ts";
import { Lines, NumberedLines, shownPath } from "../text.ts";
import { counted } from "../../runtime/counted.ts";
import { defineTool, type ToolOutput } from "../tool.ts";

export const readFile = defineTool({
  name: "read_file",
  title: "Read a file",
  description:
    "Reads a text file, or shows a PNG, JPEG, GIF or WebP image. The first line of the result names the version: " +
    "send it as expected_version when you write. Then come the lines, each after its number and a tab, which are " +
    "not part of the file. Read a long file in parts with offset and limit. To find a place first, use grep_files.",
  scopes: ["read"],
  effect: "reads",
  input: z.object({
    path: path(),
    offset: whole("The first line to show, from 1.", 1).default(1),
    limit: whole("How many lines to show.", 1, MCP_READ_LINES_MAX).optional()
      .meta({ default: MCP_READ_LINES_DEFAULT }),
    version: whole("An earlier version instead of the latest; file_history lists them.", 1).optional(),
  }),
  async run(context, { path, offset, limit, version }) {
    const { gate, metadata } = context;
    const content = gate.unwrap(await metadata.content(gate.caller, path, version));
    // The stored bytes decide, not the media type: a text may have the name of an image.
    const image = await readImage(context, content);
    if (image) return image;
    const { file } = content;
    if (!isText(content)) {
      return `${describeBytes(file, file.mimeType)}, binary: it is not shown. ` +
        "create_link gives a curl command that downloads it.";
    }
    return await readText(context, content, offset, limit);
  },
});

async function readText(
  context: Context,
  content: Content,
  offset: number,
  limit: number | undefined,
): Promise<string> {
  const { file, segments } = content;
  const name = `${shownPath(file.path)} — version ${file.version}`;
  const totalLines = countLines(segments);
  if (totalLines === 0) return `${name}, empty`;
  const window = lineWindow(segments, { from: offset, to: offset + (limit ?? MCP_READ_LINES_DEFAULT) - 1 });
  if (!window) {
    throw new ToolRefusal(
      "RANGE_NOT_SATISFIABLE",
      `${name} has ${counted(totalLines, "line")}. Send an offset from 1 to ${totalLines}.`,
    );
  }
  const lines = new Lines(name.length + 200, limit === undefined ? MCP_READ_LENGTH_DEFAULT : undefined);
  const shown = new NumberedLines(lines, offset);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const work = new Work();
  let bytes = 0;
  for await (const part of readLines(context, window.parts)) {
    if (work.add(2 * part.length)) await work.pause();
    bytes += part.length;
    if (!shown.push(decoder.decode(part)) || bytes >= MCP_READ_BYTES_MAX) break;
  }
  shown.finish();
  const { next } = shown;
  const more = totalLines - next + 1;
  const rest = more > 0 ? `\n${more} more ${more === 1 ? "line" : "lines"}: offset ${next}` : "";
  return `${name}, lines ${offset}–${next - 1} of ${totalLines}\n${lines}${rest}`;
}

/** Images by their first bytes. A model's provider would refuse a false image, and the conversation would end. */
const SIGNATURES: readonly (readonly [string, (start: string) => boolean])[] = [
  ["image/png", (start) => start.startsWith("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (start) => start.startsWith("\xff\xd8\xff")],
  ["image/gif", (start) => start.startsWith("GIF87a") || start.startsWith("GIF89a")],
  ["image/webp", (start) => start.startsWith("RIFF") && start.startsWith("WEBP", 8)],
];

async function readImage(context: Context, { file, segments }: Content): Promise<ToolOutput | undefined> {
  const mayBeImage = SIGNATURES.some(([type]) => type === file.mimeType);
  if (!mayBeImage || file.size === 0 || file.size > MCP_IMAGE_BYTES_MAX) return undefined;
  const parts: Uint8Array[] = [];
  for await (const bytes of readSegments(context, segments)) parts.push(bytes);
  const bytes = concatenate(parts);
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  const [mimeType] = SIGNATURES.find(([, isSignature]) => isSignature(start)) ?? [];
  if (mimeType === undefined) return undefined;
  return {
    text: describeBytes(file, mimeType),
    image: { data: new TextDecoder().decode(encodeBase64(bytes)), mimeType },
  };
}

function describeBytes({ path, version, size }: FileRecord, mimeType: string): string {
  return `${shownPath(path)} — version ${version}, ${mimeType}, ${counted(size, "byte")}`;
}
