/**
 * A ZIP archive that is written while its files are read. Loaded with the first export, so that the cold start of other
 * routes does not pay for the package.
 */
import { makeZip, predictLength } from "client-zip";
import { COSTLY_REST_MILLISECONDS, EXPORT_SEGMENT_BYTES_COUNTED_MIN } from "../limits.ts";
import type { FileRecord } from "../contract/files.ts";
import type { Content } from "../ports/files.ts";
import type { Deadline } from "../runtime/deadline.ts";
import { Work } from "../runtime/work.ts";
import { archiveNames } from "./disk_name.ts";
import { readSegments, type SegmentSource } from "./read_segments.ts";

/** The number of bytes that `zipArchive` yields, by which a client detects an incomplete archive. */
export function archiveBytes(contents: readonly Content[]): number {
  const names = namesOf(contents);
  return Number(predictLength(contents.map(({ file }, index) => ({ name: names[index], size: file.size }))));
}

/** Escapes the names of the archive's entries: some ZIP programs would extract `C:/x` outside of the target folder. */
function namesOf(contents: readonly Content[]): string[] {
  return archiveNames(contents.map(({ file }) => file.path));
}

/**
 * Yields an archive of the files, uncompressed, under their paths (or names that disks allow) and with the times of
 * their versions. Uses the same amount of memory as `readSegments`. It yields the first piece after the first segment
 * was read, so that a failure of the back end can still become an error response. A later segment that is corrupt or
 * out of reach throws, and the archive remains incomplete.
 */
export async function* zipArchive(
  context: SegmentSource & { readonly deadline: Deadline },
  contents: readonly Content[],
): AsyncGenerator<Uint8Array, void, void> {
  // One read for all files, so that the next file's segments are fetched while a file is sent.
  const segments = readSegments(context, contents.flatMap((content) => content.segments));
  const work = new Work(undefined, undefined, COSTLY_REST_MILLISECONDS);
  let next = segments.next();
  await next;

  async function* bytesOf({ segments: { length } }: Content): AsyncGenerator<Uint8Array, void, void> {
    for (let index = 0; index < length; index++) {
      const { value, done } = await next;
      if (done) throw new Error("there are fewer segments than the files have");
      context.deadline.extend(Math.max(value.length, EXPORT_SEGMENT_BYTES_COUNTED_MIN));
      yield value;
      if (work.add(value.length)) await work.pause();
      next = segments.next();
      // Avoids an unhandled rejection where the consumer stops early; otherwise the error is thrown at its place.
      next.catch(() => {});
    }
  }

  function* entries() {
    const names = namesOf(contents);
    for (const [index, content] of contents.entries()) {
      const { size } = content.file;
      yield { name: names[index], size, input: bytesOf(content), lastModified: shownTime(content.file) };
    }
  }

  const archive = makeZip(entries()).getReader();
  try {
    for (let piece = await archive.read(); !piece.done; piece = await archive.read()) yield piece.value;
  } finally {
    await archive.cancel().catch(() => {});
    await segments.return();
  }
}

/** ZIP has times without a zone, and the package writes the local time: shifts the time so that it writes UTC. */
function shownTime({ updatedAt }: FileRecord): Date {
  return new Date(updatedAt.replace(/Z$/, ""));
}
