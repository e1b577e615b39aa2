/**
 * A ZIP archive that is written while its files are read. Loaded when an export is first asked for: no other route's
 * cold start pays for the package.
 */
import { makeZip, predictLength } from "client-zip";
import { COSTLY_REST_MILLISECONDS, EXPORT_SEGMENT_BYTES_COUNTED_MIN } from "../limits.ts";
import type { FileRecord } from "../contract/files.ts";
import type { Content } from "../ports/files.ts";
import type { Deadline } from "../runtime/deadline.ts";
import { Work } from "../runtime/work.ts";
import { archiveNames } from "./disk_name.ts";
import { readSegments, type SegmentSource } from "./read_segments.ts";

interface ExportContext extends SegmentSource {
  readonly deadline: Deadline;
}

/** How many bytes `zipArchive` yields: what ends before that is not the archive. */
export function archiveBytes(contents: readonly Content[]): number {
  const names = namesOf(contents);
  return Number(predictLength(contents.map(({ file }, index) => ({ name: names[index], size: file.size }))));
}

/** A ZIP's reader may take `C:/x` for a place outside of the folder that it fills. */
function namesOf(contents: readonly Content[]): string[] {
  return archiveNames(contents.map(({ file }) => file.path));
}

/**
 * Yields an archive of these files, stored as they are, under their paths (or names that disks hold) and with the times of
 * their versions. Holds what `readSegments` does. The first piece comes when the first segment has been read, so that a
 * failure of the back end can still be answered; a segment that is corrupt or out of reach throws, and the archive has no
 * end then.
 */
export async function* zipArchive(
  context: ExportContext,
  contents: readonly Content[],
): AsyncGenerator<Uint8Array, void, void> {
  // One read of all files, so that the next one's segments are fetched while one is sent.
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
      // Avoids an unhandled rejection where the consumer stops early; otherwise it is rethrown in its turn.
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

/** ZIP has times without a zone, and the package writes that of this process: as it should be shown, UTC. */
function shownTime({ updatedAt }: FileRecord): Date {
  return new Date(updatedAt.replace(/Z$/, ""));
}
