/** Cuts new content into segments and stores them. */
import type { Context } from "../context.ts";
import { SegmentCutter } from "./segment.ts";
import type { Segment } from "../ports/segments.ts";
import { Uploads } from "./uploads.ts";

/** The project of the request's key, which is known by now. */
export function projectOf(context: Context): string {
  const projectId = context.gate.grant?.projectId;
  if (projectId === undefined) throw new Error("the project is not known yet");
  return projectId;
}

/**
 * The stored segments of the content, in order, once all are durable. Where `chunks` fails, nothing is left behind.
 * `mayBeText`: false where the content is not text even if it looks like it, such as merged parts of a binary.
 */
export async function storeContent(
  context: Context,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  mayBeText = true,
): Promise<Segment[]> {
  const uploads = new Uploads(context.segments, projectOf(context), context.now, mayBeText);
  const cutter = new SegmentCutter();
  try {
    for await (const chunk of chunks) {
      for (const piece of cutter.push(chunk)) await uploads.add(piece);
    }
    for (const piece of cutter.finish()) await uploads.add(piece);
    return await uploads.finish();
  } catch (error) {
    await uploads.discard();
    throw error;
  }
}
