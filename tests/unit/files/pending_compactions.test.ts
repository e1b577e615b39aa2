/** Which compactions are deferred to the next append, and for how long. */
import { assertEquals } from "@std/assert";
import {
  COMPACTION_CHECK_EVERY_SEGMENTS,
  PENDING_COMPACTION_SEGMENTS_MAX,
  SEGMENT_BYTES_MAX,
} from "../../../supabase/functions/api/limits.ts";
import { PendingCompactions } from "../../../supabase/functions/api/files/pending_compactions.ts";
import type { Segment } from "../../../supabase/functions/api/ports/segments.ts";

/** A segment list of these sizes. Each id is the segment's index. */
function segmentList(...sizes: number[]): Segment[] {
  return sizes.map((size, index) => ({
    id: `${index}`,
    name: `project/20261122/${index}`,
    size,
    sha256: "",
    newlines: 0,
    endsWithNewline: false,
    isText: true,
  }));
}

const same = (count: number, size: number) => Array.from({ length: count }, () => size);
const SMALL = same(COMPACTION_CHECK_EVERY_SEGMENTS, 100);
/** Segments of which none is worth compacting with its neighbor. */
const LARGE = same(10, SEGMENT_BYTES_MAX);

Deno.test("PendingCompactions defers the small segments at the end of a list, with the ids before them; one append takes them", () => {
  const pending = new PendingCompactions();
  const sizes = [...LARGE, ...same(14, 100)];
  assertEquals(pending.defer("file", "id", 7, segmentList(...sizes)), true);
  assertEquals(pending.take("other"), undefined);
  assertEquals(pending.take("file"), {
    fileId: "id",
    version: 7,
    kept: segmentList(...LARGE).map(({ id }) => id),
    run: segmentList(...sizes).slice(LARGE.length),
  });
  assertEquals(pending.take("file"), undefined);
});

const NOT_DEFERRED: Readonly<Record<string, readonly number[]>> = {
  "a list that is not worth compacting": [...LARGE, ...same(6, 100)],
  "a run that is not at the end": [...same(12, 100), ...LARGE.slice(0, 2)],
  "a list of very many segments": [
    ...same(40, SEGMENT_BYTES_MAX),
    ...same(PENDING_COMPACTION_SEGMENTS_MAX - 39, 100),
  ],
  "a compaction that was already due at the previous check": [...SMALL, ...SMALL],
};

for (const [name, sizes] of Object.entries(NOT_DEFERRED)) {
  Deno.test(`PendingCompactions does not defer ${name}`, () => {
    const pending = new PendingCompactions();
    assertEquals(pending.defer("file", "id", 1, segmentList(...sizes)), false);
    assertEquals(pending.take("file"), undefined);
  });
}

Deno.test("PendingCompactions forgets a compaction at a later version of the file; not at the same, an earlier or another file's", () => {
  const pending = new PendingCompactions();
  pending.defer("file", "id", 5, segmentList(...SMALL));
  pending.forgetOlderThan("file", 4);
  pending.forgetOlderThan("file", 5);
  pending.forgetOlderThan("other", 6);
  assertEquals(pending.take("file")?.version, 5);
  pending.defer("file", "id", 5, segmentList(...SMALL));
  pending.forgetOlderThan("file", 6);
  assertEquals(pending.take("file"), undefined);
});
