import type { Segment } from "../../supabase/functions/api/ports/segments.ts";

/** A segment of text without line feeds whose id is its name. */
export function segmentOf(name: string, size: number, rest: Partial<Segment> = {}): Segment {
  return { id: name, name, size, sha256: "", newlines: 0, endsWithNewline: false, isText: true, ...rest };
}
