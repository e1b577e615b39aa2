/** GET /export: the files of a directory as one ZIP archive. */
import { z } from "zod";
import type { Context } from "../context.ts";
import { attachment } from "../http/content_disposition.ts";
import { normalizeDirectory } from "../http/path.ts";
import { streamResponse } from "../http/stream_response.ts";
import { validateQuery } from "../http/validate.ts";
import {
  EXPORT_BYTES_MAX,
  EXPORT_BYTES_PER_REQUEST,
  EXPORT_FILES_MAX,
  EXPORT_FILES_PER_REQUEST,
  EXPORT_SEGMENTS_MAX,
  READ_AT_ONCE_BYTES,
} from "../limits.ts";
import type { ReleaseSlot } from "../runtime/slots.ts";
import { defineRoute } from "../route.ts";
import { pastMoment } from "./schemas.ts";

const query = z.object({
  directory: z.string().default("/").meta({
    description: "The directory, with everything below it. Leading and trailing slashes are tolerated.",
  }),
  at: pastMoment("The directory"),
});

/** The slot is held until the archive has been sent, or the client has disconnected. */
async function respond(
  context: Context,
  directory: string,
  at: string | undefined,
  releaseSlot: ReleaseSlot,
): Promise<Response> {
  const { gate, metadata, request } = context;
  const contents = gate.unwrap(await metadata.exported(gate.caller, directory, at));
  // Loaded on demand, so that no other route's cold start pays for it.
  const { archiveBytes, zipArchive } = await import("../files/zip_archive.ts");
  const length = archiveBytes(contents);
  const headers = {
    "Content-Type": "application/zip",
    "Content-Length": String(length),
    "Content-Disposition": attachment(`${directory === "" ? "files" : directory}.zip`),
    "Cache-Control": "private, no-cache, no-transform",
    // A repeated request may return another archive.
    "Accept-Ranges": "none",
    "X-Content-Type-Options": "nosniff",
  };
  if (request.method === "HEAD") {
    releaseSlot();
    return new Response(null, { headers });
  }
  gate.addWork(length / EXPORT_BYTES_PER_REQUEST + contents.length / EXPORT_FILES_PER_REQUEST);
  const pieces = releasingSlot(zipArchive(context, contents), releaseSlot);
  return await streamResponse(pieces, length <= READ_AT_ONCE_BYTES, { headers });
}

async function* releasingSlot(
  pieces: AsyncGenerator<Uint8Array, void, void>,
  releaseSlot: ReleaseSlot,
): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* pieces;
  } finally {
    releaseSlot();
  }
}

export const exportFiles = defineRoute({
  operation: "export_files",
  allows: { read: "export folders" },
  parse({ query: given }) {
    const { directory, at } = validateQuery(query, given);
    return { directory: normalizeDirectory(directory), at };
  },
  async handle(context, { directory, at }) {
    const releaseSlot = await context.beginCostly();
    try {
      return await respond(context, directory, at, releaseSlot);
    } catch (error) {
      releaseSlot();
      throw error;
    }
  },
  openapi: {
    summary: "Download the files below a directory as a ZIP archive",
    description:
      "The archive is not compressed. Its names are whole paths, its times those of the versions in UTC. Names that Windows " +
      "cannot store are escaped: `C:/con` becomes `C%3A/_con`, and `~1` distinguishes equal names. At most " +
      `${EXPORT_FILES_MAX} files with ${EXPORT_BYTES_MAX} bytes, in ${EXPORT_SEGMENTS_MAX} segments. ` +
      "If the version of a file at the moment `at` was erased, the export is refused, so that no archive lacks a file.",
    query,
    mediaType: "application/zip",
    responseHeaders: ["Content-Disposition", "Accept-Ranges", "X-Content-Type-Options"],
    errors: ["INVALID_PATH", "FILE_NOT_FOUND", "EXPORT_TOO_LARGE", "CONTENT_CORRUPT"],
  },
});
