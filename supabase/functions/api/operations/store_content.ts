/** Cuts new content into segments and stores them. */
import type { Context } from "../context.ts";
import { SegmentCutter } from "../domain/segment.ts";
import type { Segment } from "../ports.ts";
import { Uploads } from "./uploads.ts";

/** The stored segments of the content, in order, once all are durable. The caller's key is known. */
export async function storeContent(
  context: Context,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<Segment[]> {
  const projectId = context.gate.grant?.projectId;
  if (projectId === undefined) throw new Error("content of an unknown project");
  const uploads = new Uploads(context.segments, projectId, context.now);
  const cutter = new SegmentCutter();
  for await (const chunk of chunks) {
    for (const piece of cutter.push(chunk)) await uploads.add(piece);
  }
  for (const piece of cutter.finish()) await uploads.add(piece);
  return await uploads.finish();
}
